package pane

import (
	"strings"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// listing is a pane that is one table, with a line for each row.
type listing[R searched] struct {
	frame
	list   *table.Table[R]
	filter *Filter
	fields []Field
	about  func(R) Subject // what a row stands for
	extra  int             // rows that are none of what is counted
	sorting[R]
}

// newListing makes the pane with its table, which is in the first of the orders unless
// a person chose another.
func newListing[R searched](look *Look, rows table.Config[R], about func(R) Subject, orders []order[R], columns ...string) listing[R] {
	rows.Compare = orders[0].compare
	if rows.Match == nil {
		rows.Match = matchRow[R]
	}
	return listing[R]{frame: newFrame(look, columns...), list: table.New(rows), about: about, sorting: by(orders)}
}

// Subject is what the row under the cursor stands for.
func (p *listing[R]) Subject() Subject {
	if row, ok := p.list.Cursor(); ok {
		return p.about(row)
	}
	return Subject{}
}

// drawn draws the pane: its title, which ends with what the filter finds or else as
// top says, and below it the rows, or why there are none.
func (p *listing[R]) drawn(top func() (l *paint.Line, right paint.Spans), nothing func(), row func(l *paint.Line, row R, under bool)) []string {
	return p.render(func(*paint.Line) {
		l, right := top()
		if p.filter != nil {
			p.found(l, p.filter, p.list.Shown(), p.list.Total()-p.extra)
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

// Sort is that of [Intents].
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

// states are what the rows hold in the column of states.
func (p *listing[R]) states(yield func(string) bool) {
	for _, row := range p.list.All() {
		if !yield(row.search().in(inState)) {
			return
		}
	}
}

// SetFilter shows only what the filter finds; nil shows all.
func (p *listing[R]) SetFilter(f *Filter) {
	filterTable(p.list, f, p.look.Now)
	p.filter = f
	p.stale = true
}

// Fields are the names that a filter of this pane may use.
func (p *listing[R]) Fields() []Field { return p.fields }

// Matches is how many rows the filter shows, of how many that are kept.
func (p *listing[R]) Matches() (shown, total int) { return p.list.Shown(), p.list.Total() - p.extra }

// Move moves the cursor.
func (p *listing[R]) Move(s Step) {
	step(p.list, s)
	p.stale = true
}

// Click puts the cursor on the row at y, and reports whether there is one.
func (p *listing[R]) Click(_, y int) (row bool) {
	p.stale = true
	return p.list.Pick(y - p.head())
}

// Wheel scrolls.
func (p *listing[R]) Wheel(_, _, delta int) {
	p.list.Scroll(delta)
	p.stale = true
}

// SetSize gives the pane its place.
func (p *listing[R]) SetSize(w, h int) {
	p.frame.SetSize(w, h)
	p.list.SetHeight(h - p.head())
}

// SetStacked says whether the panes stand above each other.
func (p *listing[R]) SetStacked(stacked bool) {
	p.frame.SetStacked(stacked)
	p.list.SetHeight(p.h - p.head())
}

// Forget takes all rows out, for a picture that starts over.
func (p *listing[R]) Forget() {
	p.list.Forget()
	p.stale = true
}

// rows draws the rows that are in view, each with the line that it is given.
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

// held says in a title that the cursor has left the newest row.
func (p *listing[R]) held(l *paint.Line, between string) {
	if p.list.Pinned() {
		l.Space(1).Put(paint.Warning, between+"held").Put(paint.Muted, " ("+p.look.Keys.Follow+" follows)")
	}
}

// ends ends a title with what stands at its right. What there is no room for is left
// out: a count is never cut.
func (f *frame) ends(l *paint.Line, right paint.Spans) {
	f.fill(l, l.Left()-right.Width())
	for _, s := range right {
		if paint.Width(strings.TrimRight(s.Text, " ")) <= l.Left() {
			text := strings.TrimLeft(s.Text, " ")
			l.Space(len(s.Text)-len(text)).Put(s.Style, text)
		}
	}
}

// found ends a title with a filter and what it finds. The filter gives way.
func (f *frame) found(l *paint.Line, filter *Filter, shown, total int) {
	text, hits := "/ "+filter.Text, wording.Count(shown)+" of "+wording.Count(total)
	if !filter.asks() {
		hits = "not filtered"
	}
	room := l.Left() - len(hits) - 3
	width := min(paint.Width(text), room-1)
	f.fill(l, room-width)
	l.Fit(paint.Accent, text, width).Space(2).Put(paint.Text, hits)
}
