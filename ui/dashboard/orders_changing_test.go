package dashboard

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestAnOrderThatChangesUnderItsDialogIsConfirmedAsItWasSeen(t *testing.T) {
	seen := []string{"12.90 USD", "44.52 USD"}
	for _, c := range []struct {
		name    string
		happens func(s *shop, items []api.ID)
		sent    []string // totals
		says    string
	}{
		{"nothing", func(*shop, []api.ID) {}, seen, "2 of 3 items"},
		{"another item comes", func(s *shop, _ []api.ID) {
			another := *s.intent(11, api.AwaitingConfirmation, time.Minute)
			another.ReferenceID = "order-7"
			s.put(&another)
			s.reads[another.ID].ReferenceID = "order-7"
		}, seen, "2 of 4 items; one came after this was opened"},
		{"a price changes", func(s *shop, items []api.ID) {
			dearer := *s.reads[items[0]]
			offer := *dearer.Offer
			offer.Cost.Total = &api.Money{Currency: "USD", Subunits: 99_00}
			dearer.Offer = &offer
			s.reads[items[0]] = &dearer
		}, seen, "2 of 3 items"}, // the guard, which reads it again, refuses what was seen
		{"one is confirmed elsewhere", func(s *shop, items []api.ID) { s.place(items[0], api.PlacingOrder) }, seen[1:], "2 of 3 items"},
		{"one fails", func(s *shop, items []api.ID) { s.place(items[1], api.Failed) }, seen[:1], "2 of 3 items"},
		{"one is in another order now", func(s *shop, items []api.ID) {
			in, _ := s.Intent(items[0])
			in.ReferenceID = "order-8"
			s.put(&in.Intent)
		}, seen, "2 of 3 items"},
		{"a window closes", func(*shop, []api.ID) { time.Sleep(5 * time.Minute) }, nil, "2 of 3 items"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, items := orderShop()
				g := &till{}
				m := boardOf(t, s, 160, 45, func(c *Config) { c.Armed, c.Confirmer = true, g })
				press(m, "O", "c")
				rest(m)
				c.happens(s, items)
				m.Update(changesMsg{s.Changes(0)})
				m.advance(time.Now())
				failed := "1 item has failed already"
				if c.name == "one fails" {
					failed = "2 items have failed already"
				}
				if got := screen(m); !inOrder(got, "Confirm order-7", c.says, "12.90 USD", "44.52 USD", failed, "57.42 USD") {
					t.Errorf("the dialog shows something else:\n%s", got)
				}
				s.run(m, g, press(m, "C"))
				if !slices.Equal(g.totals, c.sent) {
					t.Errorf("sent %v, want %v", g.totals, c.sent)
				}
			})
		})
	}
}

func TestADialogNoLongerSaysTheWholeOrderOnceAnotherItemCame(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {80, 24}} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := orderShop()
			comes := func(n int) {
				another := *s.intent(n, api.AwaitingConfirmation, time.Minute)
				another.ReferenceID = "order-9"
				s.put(&another)
			}
			comes(11)
			m := boardOf(t, s, size[0], size[1], func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
			press(m, append(strings.Split("Oiorder-9", ""), "enter", "c")...)
			rest(m)
			for _, want := range []string{"2 items, the whole order", "2 of 3 items; one came after this was opened", "2 of 4 items; 2 came after this was opened"} {
				got := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(screen(m))), " ")
				if !inOrder(got, want, "Total", "Cancel") {
					t.Fatalf("%v: want %q:\n%s", size, want, screen(m))
				}
				comes(len(s.changes.Intents) + 5)
				m.Update(changesMsg{s.Changes(0)})
			}
		})
	}
}
