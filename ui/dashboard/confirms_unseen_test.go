package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/confirm"
)

func TestNothingIsConfirmedWhileItsDialogIsNotOnTheScreen(t *testing.T) {
	for _, batch := range []bool{false, true} {
		for _, size := range []tea.WindowSizeMsg{{Width: 120, Height: 11}, {Width: 20, Height: 5}, {Width: 39, Height: 30}} {
			t.Run(fmt.Sprintf("batch %t, %dx%d", batch, size.Width, size.Height), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
					m := boardOf(t, typicalShop(time.Now()), 120, 36, armed(g))
					keys := []string{"c"}
					if batch {
						keys = []string{"x", "x", "X"}
					}
					press(m, keys...)
					rest(m)
					screen(m)
					m.Update(size)
					screen(m)
					rest(m)
					settle(m, press(m, "C"))
					if len(g.asked) > 0 {
						t.Fatal("an order was placed that nobody saw")
					}

					m.Update(tea.WindowSizeMsg{Width: 160, Height: 45})
					if got := screen(m); strings.Contains(got, "Enlarge") || m.dialog.confirm() == nil {
						t.Errorf("on a larger screen:\n%s", got)
					}
					settle(m, press(m, "C"))
					if len(g.asked) > 0 {
						t.Fatal("a key counted that was typed before the dialog was seen again")
					}
					rest(m)
					screen(m)
					settle(m, press(m, "C"))
					rest(m)
					if len(g.asked) == 0 {
						t.Error("what is seen again cannot be confirmed")
					}
					m.confirms.running.Wait()
				})
			})
		}
	}
}
