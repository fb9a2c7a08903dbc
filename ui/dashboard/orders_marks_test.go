package dashboard

import "testing"

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
