package pane

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

// cursor is a table's cursor, whatever its rows are.
type cursor interface {
	CursorKey() string
	Find(key string) (index int, ok bool)
	Index() int
	Pinned() bool
	Page() int
	Total() int
	Move(delta int)
	Scroll(delta int)
	Pick(row int) bool
}

func step(c cursor, s Step) { c.Move(s.by(c.Page(), c.Total())) }

// Move moves the cursor; left and right change the lane.
func (p *Intents) Move(s Step) {
	switch {
	case s == Left && !p.listed():
		p.lanes.change(-1)
	case s == Right && !p.listed():
		p.lanes.change(1)
	default:
		step(p.cursor(), s)
	}
	p.stale = true
}

// Click puts the cursor on the row at x, y of the pane. row is false if there is none.
func (p *Intents) Click(x, y int) (row bool) {
	p.stale = true
	if p.listed() {
		return p.cursor().Pick(y - p.head())
	}
	lane, ok := p.lanes.under(x)
	if !ok {
		return false
	}
	p.lanes.enter(lane)
	return y >= 3 && p.cursor().Pick((y-3)/2)
}

// Wheel scrolls the lane at x, or the list.
func (p *Intents) Wheel(x, _, delta int) {
	p.stale = true
	if p.listed() {
		p.cursor().Scroll(delta)
	} else if lane, ok := p.lanes.under(x); ok {
		p.lanes.tables[lane].Scroll(delta)
	}
}
