package pane

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
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

// One word has one meaning: the title counts the rows that say it, and a filter finds
// them by it. A list says it in one column.
func TestUnreadIsWhatNoReadHasShown(t *testing.T) {
	as := func(id string, state api.IntentState, sure account.Certainty, readAt time.Time) *account.Intent {
		in := intentOf(id, state, time.Minute)
		in.Certainty, in.ReadAt = sure, readAt
		return in
	}
	all := []*account.Intent{
		as("read", api.AwaitingConfirmation, account.Verified, noon),
		as("never", api.AwaitingConfirmation, account.Reported, time.Time{}),
		as("since", api.Completed, account.Reported, noon),
		as("named", "", account.Hinted, time.Time{}),
	}
	all[2].ReferenceID, all[2].Total = "order-1", &api.Money{Currency: "USD", Subunits: 1290}
	lanes := intents(160, 20, all...)
	if got := text(lanes.Lines()); !strings.Contains(got, "INTENTS 4 · 3 unread, 1 of unknown state") || strings.Count(got, "unread") != 3 {
		t.Errorf("lanes:\n%s", got)
	}
	for _, width := range []int{72, 90, 107} {
		for _, grouped := range []bool{false, true} {
			p := intents(width, 20, all...)
			p.Group(grouped)
			ends := map[int]int{}
			rows := strings.Split(text(p.Lines()), "\n")
			for _, row := range rows[1:] {
				if before, _, found := strings.Cut(row, "unread"); found {
					ends[len([]rune(before))]++
				}
			}
			if !strings.Contains(rows[0], "· 3 unread") || len(ends) != 1 || slices.Collect(maps.Values(ends))[0] != 3 {
				t.Errorf("%d columns, grouped: %t: unread stands at %v:\n%s", width, grouped, ends, strings.Join(rows, "\n"))
			}
			p.SetFilter(ParseFilter("unread", p.Fields()))
			if shown := p.list.Shown(); shown != 3 {
				t.Errorf("the filter finds %d", shown)
			}
		}
	}
	read := *all[2]
	read.Certainty = account.Verified
	lanes.Apply(&account.Changes{Intents: []*account.Intent{&read}, GoneIntents: []api.ID{"named"}}, false)
	if got := text(lanes.Lines()); !strings.Contains(got, "INTENTS 3 · 1 unread") {
		t.Errorf("after one was read and one let go:\n%s", got)
	}
	lanes.Forget()
	if got := text(lanes.Lines()); strings.Contains(got, "unread") {
		t.Errorf("after all were forgotten:\n%s", got)
	}
}
