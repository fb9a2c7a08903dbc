package dashboard

import (
	"strings"
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
		{"the first three, by a range", []string{"V", "j", "j", "V", "X"}, []string{"3 orders", "Total"}},
		{"the first three, by a range that x ends", []string{"V", "j", "j", "x", "X"}, []string{"3 orders", "Total"}},
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

func TestARangeIsEndedLeftAndAbandoned(t *testing.T) {
	cases := []struct {
		name   string
		keys   string
		marked int
		ranges bool
	}{
		{"while it is extended nothing is marked", "V j", 0, true},
		{"its end marks all of it", "V j j V", 3, false},
		{"upwards too", "j j V k k V", 3, false},
		{"of one row", "V V", 1, false},
		{"esc abandons it", "V j esc", 0, false},
		{"and what was marked before stays", "x V j esc", 1, false},
		{"another lane or pane abandons it", "V j l h V", 0, true},
		{"as grouping does", "V j O V", 0, true},
		{"another pane has no range", "2 V", 0, false},
	}
	for _, c := range cases {
		s, _ := queueShop(5)
		s.intent(9, api.PlacingOrder, time.Minute)
		m := boardOf(t, s, 200, 55)
		press(m, strings.Fields(c.keys)...)
		if len(m.marks.set) != c.marked || m.board.ranging() != c.ranges {
			t.Errorf("%s: %d marked, want %d; a range: %v, want %v\n%s", c.name, len(m.marks.set), c.marked, m.board.ranging(), c.ranges, screen(m))
		}
	}
}

func TestARangeLeavesOutWhatCannotBeConfirmedAndSaysSo(t *testing.T) {
	s, _ := orderShop()
	m := boardOf(t, s, 200, 55)
	press(m, "O", "V", "G", "V")
	if got := screen(m); len(m.marks.set) != 5 || !strings.Contains(got, "5 intents marked") {
		t.Errorf("%d marked, want the 5 that await:\n%s", len(m.marks.set), got)
	}
}
