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
		p.changeLane(-1)
	case s == Right && !p.listed():
		p.changeLane(1)
	case p.orders != nil:
		step(p.orders.list, s)
	default:
		step(p.table(), s)
	}
	p.stale = true
}

func (p *Intents) changeLane(by int) {
	for i := p.lane + by; i >= 0 && i < lanes; i += by {
		if (i != laneOther || p.lanes[i].Total() > 0) && !p.folds(i) {
			p.lane, p.left = i, 0
			return
		}
	}
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
	p.place()
	for _, c := range p.cells {
		if x >= c.x && x < c.x+c.w+laneGap {
			p.lane, p.left = c.lane, 0
			return y >= 3 && pick(p.lanes[c.lane], (y-3)/2)
		}
	}
	return false
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
	p.place()
	for _, c := range p.cells {
		if x >= c.x && x < c.x+c.w+laneGap {
			p.lanes[c.lane].Scroll(delta)
		}
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
