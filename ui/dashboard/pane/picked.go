package pane

import "slices"

// picked is rows that are made anew again and again, with a cursor that stays on the
// row of a name, and the part of them that is in view.
type picked[R any] struct {
	rows   []R
	name   func(R) string
	under  string // the name of the row under the cursor
	drawn  int    // the index of that row in the last drawing
	offset int    // of the first row in view
	top    int    // the line of the pane where the rows begin; 0 while none is shown
	page   int    // how many there is room for
}

// cursor is the index of the row under the cursor.
func (p *picked[R]) cursor() int {
	return max(slices.IndexFunc(p.rows, func(row R) bool { return p.name(row) == p.under }), 0)
}

// put puts the cursor on a row, as near as there is one.
func (p *picked[R]) put(at int) {
	if len(p.rows) > 0 {
		p.under = p.name(p.rows[min(max(at, 0), len(p.rows)-1)])
	}
}

// place notes where the rows stand, and has the one under the cursor in view.
func (p *picked[R]) place(top, page int) {
	p.top, p.page, p.drawn = top, max(page, 1), p.cursor()
	p.offset = max(min(p.offset, p.drawn), p.drawn-p.page+1, 0)
	p.offset = max(min(p.offset, len(p.rows)-p.page), 0)
}

// click puts the cursor on the row of a line of the pane, and reports whether there is
// one.
func (p *picked[R]) click(y int) bool {
	at := y - p.top
	if p.top == 0 || at < 0 || at >= p.page || p.offset+at >= len(p.rows) {
		return false
	}
	p.put(p.offset + at)
	return true
}
