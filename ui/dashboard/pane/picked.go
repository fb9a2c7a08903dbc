package pane

import "slices"

// picked holds rows that are often made again, with a cursor that stays on the row with a
// name once it is held or moved, and the visible part of the rows.
type picked[R any] struct {
	rows   []R
	name   func(R) string
	under  string // the name of the row under the cursor; "": the first
	drawn  int    // the index at which that row was last
	offset int    // of the first row in view
	top    int    // the line of the pane where the rows begin; 0: none is shown
	page   int    // number of visible rows
}

// cursor returns the index of the row under the cursor. If that is gone, the cursor goes to the
// row in its place.
func (p *picked[R]) cursor() int {
	at := slices.IndexFunc(p.rows, func(row R) bool { return p.name(row) == p.under })
	if at < 0 && p.under != "" {
		at = p.drawn
		p.put(at)
	}
	p.drawn = min(max(at, 0), max(len(p.rows)-1, 0))
	return p.drawn
}

// hold keeps the cursor on its row.
func (p *picked[R]) hold() { p.put(p.cursor()) }

// put puts the cursor on the row with an index, or the nearest one.
func (p *picked[R]) put(at int) {
	if len(p.rows) > 0 {
		p.under = p.name(p.rows[min(max(at, 0), len(p.rows)-1)])
	}
}

// place sets where the rows are drawn, and scrolls the cursor into view.
func (p *picked[R]) place(top, page int) {
	p.top, p.page = top, max(page, 1)
	at := p.cursor()
	p.offset = max(min(p.offset, at), at-p.page+1, 0)
	p.offset = max(min(p.offset, len(p.rows)-p.page), 0)
}

// click puts the cursor on the row at a line of the pane. It returns false if there is
// none.
func (p *picked[R]) click(y int) bool {
	at := y - p.top
	if p.top == 0 || at < 0 || at >= p.page || p.offset+at >= len(p.rows) {
		return false
	}
	p.put(p.offset + at)
	return true
}
