package pane

import "tillwatch/ui/dashboard/table"

// Step is a movement of the cursor.
type Step uint8

// The steps.
const (
	Up Step = iota
	Down
	Left
	Right
	First
	Last
	PageUp
	PageDown
)

// Move moves the cursor; left and right change the lane.
func (p *Intents) Move(s Step) {
	switch {
	case s == Left && !p.listed():
		p.lanes.change(-1)
	case s == Right && !p.listed():
		p.lanes.change(1)
	case p.orders != nil:
		step(p.orders.list, s)
	default:
		step(p.table(), s)
	}
	p.stale = true
}

// Click puts the cursor on the row at x, y of the pane, and reports whether there
// is one.
func (p *Intents) Click(x, y int) (row bool) {
	p.stale = true
	switch {
	case p.orders != nil:
		return pick(p.orders.list, y-p.head())
	case p.listed():
		return pick(p.list, y-p.head())
	}
	lane, ok := p.lanes.under(x)
	if !ok {
		return false
	}
	p.lanes.enter(lane)
	return y >= 3 && pick(p.lanes.current(), (y-3)/2)
}

// Wheel scrolls what lies at x.
func (p *Intents) Wheel(x, _, delta int) {
	p.stale = true
	switch {
	case p.orders != nil:
		p.orders.list.Scroll(delta)
		return
	case p.listed():
		p.list.Scroll(delta)
		return
	}
	if lane, ok := p.lanes.under(x); ok {
		p.lanes.tables[lane].Scroll(delta)
	}
}

func step[T any](t *table.Table[T], s Step) {
	switch s {
	case Up:
		t.Move(-1)
	case Down:
		t.Move(1)
	case First:
		t.MoveTo(0)
	case Last:
		t.MoveTo(t.Shown() - 1)
	case PageUp:
		t.Page(-1)
	case PageDown:
		t.Page(1)
	}
}

// pick puts the cursor on a row of the window, if there are so many.
func pick[T any](t *table.Table[T], row int) bool {
	rows, first := t.Window()
	if row < 0 || row >= len(rows) {
		return false
	}
	t.MoveTo(first + row)
	return true
}
