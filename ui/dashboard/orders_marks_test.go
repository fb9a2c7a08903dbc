package dashboard

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestMarksOfAnOrder(t *testing.T) {
	s, items := orderShop()
	m := boardOf(t, s, 160, 45)
	press(m, "O", "x")
	if !m.marks.set[items[0]] || !m.marks.set[items[1]] || len(m.marks.set) != 2 {
		t.Fatalf("x on a head marks %v:\n%s", m.marks.set, screen(m))
	}
	if !m.board.headUnder() || m.board.orderUnder().Reference != "order-8" {
		t.Errorf("the cursor has not moved on behind the items:\n%s", screen(m))
	}
	if press(m, "g", "x"); len(m.marks.set) != 0 {
		t.Errorf("x again leaves %v", m.marks.set)
	}
}

func TestAJobOfEveryDayTakesFewKeysToTheDialog(t *testing.T) {
	cases := []struct {
		name  string
		keys  []string
		shows []string
	}{
		{"the three of one merchant, by a filter", []string{"/", "a", "c", "m", "e", "enter", "A", "X"}, []string{"3 orders", "Total", "101.94 USD"}},
		{"the first three, one by one", []string{"x", "x", "x", "X"}, []string{"3 orders", "Total"}},
		{"one order", []string{"O", "c"}, []string{"Confirm order-7", "57.42 USD"}},
		{"one order, by its mark", []string{"O", "x", "X"}, []string{"2 orders", "57.42 USD"}},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			s, _ := orderShop()
			for n, state := range map[int]api.IntentState{31: api.AwaitingConfirmation, 48: api.AwaitingConfirmation} { // of acme.example
				s.intent(n, state, 5*time.Minute)
			}
			for i, in := range s.changes.Intents {
				if in.Product == "Merino Beanie" && in.ReferenceID == "order-9" {
					other := *in
					other.Merchant = "another.example"
					s.changes.Intents[i] = &other
				}
			}
			m := boardOf(t, s, size[0], size[1], func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
			press(m, c.keys...)
			if got := screen(m); len(c.keys) > 8 || !m.dialog.open() || !inOrder(got, c.shows...) {
				t.Errorf("%s, %v: %d keys show no dialog with %q:\n%s", c.name, size, len(c.keys), c.shows, got)
			}
		}
	}
}
