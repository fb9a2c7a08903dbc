package pane

import (
	"strings"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// listing is a pane with one table, which has one line for each row.
type listing[R searched] struct {
	frame
	list   *table.Table[R]
	filter *Filter
	fields []Field
	about  func(R) Subject // the subject of a row
	sorting[R]
}

// newListing returns the pane with its table, sorted by the first of the orders.
func newListing[R searched](look *Look, rows table.Config[R], about func(R) Subject, orders []order[R]) listing[R] {
	rows.Compare = orders[0].compare
	rows.Match = matchRow[R]
	return listing[R]{frame: newFrame(look), list: table.New(rows), about: about, sorting: by(orders)}
}

// Subject returns the subject of the row under the cursor.
func (p *listing[R]) Subject() Subject {
	if row, ok := p.list.Cursor(); ok {
		return p.about(row)
	}
	return Subject{}
}

// drawn draws the pane: its title, which ends with the matches of the filter or else with
// right, and below it the rows, or why there are none.
func (p *listing[R]) drawn(top func() (l *paint.Line, right paint.Spans), nothing func(), row func(l *paint.Line, row R, under bool)) []string {
	return p.render(func() {
		l, right := top()
		if p.filter != nil {
			p.found(l, p.filter, p.list.Shown(), p.list.Total())
		} else {
			p.ends(l, right)
		}
		p.push(l)
		if p.collapsed() {
			return
		}
		p.rule()
		if p.list.Total() == 0 {
			nothing()
		}
		p.rows(row)
	})
}

// Sort is like [Intents.Sort].
func (p *listing[R]) Sort(name string, reverse bool) string {
	p.turn(name, reverse)
	if p.order == "" {
		p.list.SetCompare(nil)
	} else {
		p.list.SetCompare(p.compare)
	}
	p.stale = true
	return p.order
}

// states yields the texts in the column of states.
func (p *listing[R]) states(yield func(string) bool) {
	for _, row := range p.list.All() {
		if !yield(row.search().in(inState)) {
			return
		}
	}
}

// SetFilter shows only rows that match; nil shows all.
func (p *listing[R]) SetFilter(f *Filter) {
	filterTable(p.list, f, p.look.Now)
	p.filter = f
	p.stale = true
}

// Search returns the work of a slow filter, which may run in another goroutine. The function
// that it returns must run in Update; after that, SetFilter is fast.
func (p *listing[R]) Search(f *Filter) func() (keep func()) { return search(f, p.list.All()) }

// Fields returns the fields of a filter for this pane.
func (p *listing[R]) Fields() []Field { return p.fields }

// Matches returns how many rows pass the filter, of how many.
func (p *listing[R]) Matches() (shown, total int) { return p.list.Shown(), p.list.Total() }

// Hold keeps the cursor on its row. If that is out of sight and back is true, the cursor returns to
// where it began.
func (p *listing[R]) Hold(back bool) { p.stale = p.list.Hold(back) || p.stale }

// Move moves the cursor.
func (p *listing[R]) Move(s Step) {
	step(p.list, s)
	p.stale = true
}

// Click puts the cursor on the row at y. row is false if there is none.
func (p *listing[R]) Click(_, y int) (row bool) {
	p.stale = true
	return p.list.Pick(y - p.head())
}

// Wheel scrolls.
func (p *listing[R]) Wheel(_, _, delta int) {
	p.list.Scroll(delta)
	p.stale = true
}

// SetPlace places the pane.
func (p *listing[R]) SetPlace(at Place) {
	p.frame.SetPlace(at)
	p.list.SetHeight(p.h - p.head())
}

// Forget removes all rows, for a picture that starts again.
func (p *listing[R]) Forget() {
	p.list.Forget()
	p.stale = true
}

// rows draws the visible rows with draw.
func (p *listing[R]) rows(draw func(l *paint.Line, row R, under bool)) {
	rows, first := p.list.Window()
	if len(rows) == 0 && p.list.Total() > 0 {
		p.nothingMatches()
	}
	for i, row := range rows {
		l := p.start()
		draw(l, row, p.focused && first+i == p.list.Index())
		p.push(l.On(paint.Base))
	}
}

func (f *frame) nothingMatches() {
	f.message(paint.Muted, "nothing matches", f.look.Keys.ShowAll+" shows all again")
}

// held shows in a title that the cursor has left the newest row.
func (p *listing[R]) held(l *paint.Line, between string) {
	if p.list.Pinned() {
		l.Space(1).Put(paint.Warning, between+"held").Put(paint.Muted, " ("+p.look.Keys.Follow+" follows)")
	}
}

// ends ends a title with its right part, in groups that each begin with two blanks. It omits a
// group without room: a count is never truncated, nor behind another one's sign.
func (f *frame) ends(l *paint.Line, right paint.Spans) {
	if n := l.Left() - right.Width(); f.compact() && n >= 3 {
		l.Space(1).Repeat(paint.Rule, "─", n-1)
	} else {
		l.Space(n)
	}
	for len(right) > 0 {
		end := 1
		for end < len(right) && !strings.HasPrefix(right[end].Text, "  ") {
			end++
		}
		last := right[end-1].Text
		if right[:end].Width()-len(last)+len(strings.TrimRight(last, " ")) <= l.Left() {
			for _, s := range right[:end] {
				text := strings.TrimLeft(s.Text, " ")
				l.Space(len(s.Text)-len(text)).Put(s.Style, text)
			}
		}
		right = right[end:]
	}
}

// found ends a title with a filter and its matches. Without room, the filter is truncated.
func (f *frame) found(l *paint.Line, filter *Filter, shown, total int) {
	text, hits := "/ "+filter.Text, wording.Count(shown)+" of "+wording.Count(total)
	if !filter.hides() {
		hits = "not filtered"
	}
	room := l.Left() - len(hits) - 2
	width := min(paint.Width(text), room-1)
	f.fill(l, room-width)
	l.Fit(paint.Accent, text, width).Space(2).Put(paint.Text, hits)
}
