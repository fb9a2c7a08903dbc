package pane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// A large total leaves the start of the name and the quantity on a row, and is whole
// or not there at all: a part of it reads as another one.
func TestALargeTotalLeavesRoomForTheNameAndTheQuantity(t *testing.T) {
	for _, state := range api.IntentStates() {
		for _, width := range []int{28, 38, 56, 80, 108, 112, 120, 160, 178, 200, 300} {
			for quantity, times := range map[int]string{1: "", 2: " ×2", 1000: " ×1,000"} {
				if width < 38 && quantity > 2 {
					continue
				}
				in := intentOf("a", state, 39*time.Minute)
				in.Product, in.Merchant, in.Quantity, in.ReferenceID = "Wool Socks", "north-roast.example", quantity, "order-1"
				in.Total = &api.Money{Currency: "USD", Subunits: 100_000_000_000}
				for _, grouped := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %d columns, %d of it, grouped: %t", state, width, quantity, grouped), func(t *testing.T) {
						p := intents(width, 12, in)
						p.Group(grouped)
						got := text(p.Lines())
						_, row, _ := strings.Cut(got, "Woo")
						if row, _, _ = strings.Cut(row, "\n"); row == "" || !strings.Contains(row, times) {
							t.Errorf("no start of the name with the quantity:\n%s", got)
						}
						whole := strings.Contains(got, "1,000,000,000.00 USD")
						if cut := strings.Contains(got, "1,000,0") || strings.Contains(got, "000.00"); cut && !whole {
							t.Errorf("the total is cut:\n%s", got)
						}
						if state == api.AwaitingConfirmation && width >= 56 && !whole {
							t.Errorf("no total:\n%s", got)
						}
					})
				}
			}
		}
	}
}
