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

// by returns the number of rows of a step.
func (s Step) by(page, rows int) int {
	return map[Step]int{Up: -1, Down: 1, PageUp: -page, PageDown: page, First: -rows, Last: rows}[s]
}

func step[R any](t *table.Table[R], s Step) { t.Move(s.by(t.Page(), t.Total())) }

// Hold is like that of other panes, for the list or the lane with the cursor.
func (p *Intents) Hold(back bool) { p.stale = p.table().Hold(back) || p.stale }

// Move moves the cursor; left and right change the lane.
func (p *Intents) Move(s Step) {
	switch {
	case s == Left && !p.listed():
		p.lanes.change(-1)
	case s == Right && !p.listed():
		p.lanes.change(1)
	default:
		p.lanes.rest()
		step(p.table(), s)
	}
	p.stale = true
}

// Click puts the cursor on the row at x, y of the pane. row is false if there is none.
func (p *Intents) Click(x, y int) (row bool) {
	p.stale = true
	if p.listed() {
		return p.table().Pick(y - p.head())
	}
	lane, ok := p.lanes.under(x)
	if !ok {
		return false
	}
	p.lanes.enter(lane)
	return y >= 3 && p.table().Pick((y-3)/2)
}

// Wheel scrolls the lane at x, or the list.
func (p *Intents) Wheel(x, _, delta int) {
	p.stale = true
	if p.listed() {
		p.table().Scroll(delta)
	} else if lane, ok := p.lanes.under(x); ok {
		p.lanes.tables[lane].Scroll(delta)
	}
}
