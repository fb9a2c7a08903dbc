package pane

import (
	"cmp"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// leastBeside is the least width for the sides beside each other.
const leastBeside = 150

func (p *Failures) beside() bool { return p.w >= leastBeside }

// Lines draws the view.
func (p *Failures) Lines() []string {
	return p.render(func() {
		p.count()
		for side := range p.groups {
			p.groups[side].top = 0
		}
		p.top()
		p.rule()
		switch {
		case p.failed == 0:
			p.none()
		case p.beside():
			p.sideBySide()
		default:
			p.stackedSides()
		}
	})
}

// top draws the title: how many failed in which time, and their value.
func (p *Failures) top() {
	l := p.title("FAILURES", -1)
	l.Space(1).Put(paint.Text, counted(p.failed, p.known))
	l.Put(paint.Muted, " · ").Put(paint.Text, failureSpans[p.span].name).Put(paint.Muted, " ("+p.look.Keys.Span+")")
	if p.undated > 0 {
		l.Put(paint.Muted, " · "+wording.Count(p.undated)+" at an unknown time")
	}
	p.sorted(l, p.order)
	if p.intents.older && failureSpans[p.span].age == "" && p.w >= 100 {
		l.Put(paint.Muted, " · older ones are not kept")
	}
	var right paint.Spans
	if p.failed > 0 {
		right = paint.Spans{{Text: " value lost " + sums(&p.lost, l.Left()-len("value lost ")-3), Style: paint.Muted}}
	}
	p.ends(l, right)
	p.push(l)
}

// none says that nothing failed, as far as is known.
func (p *Failures) none() {
	span, total := failureSpans[p.span], len(p.intents.rows)
	known := "none"
	if read := total - p.intents.unread; read > 0 {
		known = wording.Counted(read, "intent", "intents")
	}
	if p.intents.unread > 0 {
		known += ", " + wording.Count(p.intents.unread) + " unread"
	}
	switch {
	case total == 0:
		p.empty(p.intents.none())
		return
	case span.age == "":
		p.message(paint.Muted, "none failed; known: "+known, "")
		return
	}
	earlier := p.look.Keys.Span + " shows another time"
	if n := p.intents.lanes.tables[laneFailed].Total(); n > p.undated {
		earlier += ": " + wording.Count(n-p.undated) + " failed before"
	} else if n > 0 {
		earlier += ": " + wording.Count(n) + " failed at an unknown time"
	}
	p.message(paint.Muted, "none failed in the "+span.name+"; known: "+known, earlier)
}

// sideBySide draws the groups by reason left of those by merchant.
func (p *Failures) sideBySide() {
	w := (p.w - laneGap) / 2
	columns := failureColumnsOf(w)
	l := p.start()
	for side := range sides {
		p.head(l.To(side*(w+laneGap)), side, columns)
	}
	p.push(l)
	room := p.h - len(p.lines)
	rows := min(max(len(p.groups[byReason].rows), len(p.groups[byMerchant].rows)), room)
	listed := room-rows >= leastMembers
	for side := range sides {
		p.groups[side].place(len(p.lines), rows)
	}
	for i := range rows {
		l := p.start()
		for side := range sides {
			l.On(paint.Base).To(side * (w + laneGap))
			p.row(l, side, i, columns, listed)
		}
		p.push(l.On(paint.Base))
	}
	p.members(w, byReason, byMerchant)
}

// stackedSides draws the groups by reason above those by merchant. Without room for all,
// each side gets half of it, or what the other does not need.
func (p *Failures) stackedSides() {
	columns := failureColumnsOf(p.w)
	rows := max(p.h-len(p.lines)-sides-1, sides) // without a head for each and a blank line between
	reasons, merchants := len(p.groups[byReason].rows), len(p.groups[byMerchant].rows)
	rooms := [sides]int{byReason: min(reasons, max(rows/2, rows-merchants))}
	rooms[byMerchant] = rows - rooms[byReason]
	for side, room := range rooms {
		if side > 0 {
			p.push(p.start())
		}
		l := p.start()
		p.head(l, side, columns)
		p.push(l)
		p.groups[side].place(len(p.lines), room)
		for i := range min(room, len(p.groups[side].rows)) {
			l := p.start()
			p.row(l, side, i, columns, false)
			p.push(l.On(paint.Base))
		}
	}
	p.members(p.w, p.side)
}

// leastMembers is the least number of lines for members, with their heading.
const leastMembers = 5

// members draws the intents of the groups under the cursors of some sides in the remaining
// lines, one side beside the other.
func (p *Failures) members(w int, shown ...int) {
	room, rows := p.h-len(p.lines)-2, 0
	if room < leastMembers-2 {
		return
	}
	p.push(p.start())
	l := p.start()
	for i, side := range shown {
		g := p.under(side)
		l.To(i*(w+laneGap)).Space(1).Put(paint.Muted|paint.Bold, "FAILED").Space(1).Fit(paint.Text, g.name, w-1-len("FAILED "))
		rows = max(rows, len(g.rows))
	}
	p.push(l)
	for at := range min(rows, room) {
		l := p.start()
		for i, side := range shown {
			p.member(l.To(i*(w+laneGap)), side, at, w)
		}
		p.push(l)
	}
}

// member draws an intent of the group under a side's cursor, if there are as many, with its
// merchant or its reason.
func (p *Failures) member(l *paint.Line, side, at, w int) {
	rows := p.under(side).rows
	if at >= len(rows) {
		return
	}
	row := rows[at]
	const age, total = 5, 16
	product := (w - 1 - age - 2 - total) / 2
	l.Space(1).Fit(paint.Muted, p.look.age(row.Entered()), age)
	p.intents.cards.product(l, row, product)
	other := wording.Failure(row.Failure)
	if side == byReason {
		other = string(row.Merchant)
	}
	l.Space(2).Fit(paint.Muted, other, w-1-age-product-2-total)
	l.Right(paint.Text, whole(cmp.Or(row.total, "–"), total-1), total)
}

// failureColumns are the widths of a side's columns.
type failureColumns struct{ name, bar, failed, share, last, lost int }

// leastGroup is the least width of a group's name: other columns give way to it, but not the value lost.
const leastGroup = 12

func failureColumnsOf(w int) failureColumns {
	c := failureColumns{failed: 8, share: 7, last: 6, lost: 16}
	room := w - 3 - c.failed - c.share - c.last - c.lost // the gutter and the blanks around the bar
	for _, column := range []*int{&c.share, &c.last} {
		if room < leastGroup {
			room, *column = room+*column, 0
		}
	}
	c.name = min(max(room*3/4, leastGroup), 35) // the longest reason
	c.bar = max(room-c.name, 0)
	return c
}

func (p *Failures) head(l *paint.Line, side int, c failureColumns) {
	name := [sides]string{"BY REASON", "BY MERCHANT"}[side]
	style := paint.Muted
	if p.focused && side == p.side {
		style = paint.Accent
	}
	from := l.At()
	l.Space(1).Put(style|paint.Bold, name).Space(1).Put(paint.Text, wording.Count(len(p.groups[side].rows)))
	l.To(from+3+c.name+c.bar).Right(paint.Muted, "failed", c.failed).Right(paint.Muted, "share", c.share).Right(paint.Muted, "last", c.last)
	l.Right(paint.Muted, "value lost", c.lost)
}

// row draws the i-th visible group of a side, if there is one. If the members of both sides are
// listed, the cursor of either is marked.
func (p *Failures) row(l *paint.Line, side, i int, c failureColumns, listed bool) {
	list := &p.groups[side]
	at := list.offset + i
	if at >= len(list.rows) {
		return
	}
	g := list.rows[at]
	under := at == list.drawn
	p.gutter(l, under && p.focused && side == p.side, under && listed, false)
	name := g.name
	if side == byMerchant {
		name = shortened(name, c.name)
	}
	l.Fit(paint.Text, name, c.name).Space(1)
	length := (g.n*c.bar*2 + p.most[side] - 1) / p.most[side] // in halves of a cell
	halves(l, paint.Failed, length)
	l.Space(c.bar - (length+1)/2 + 1)
	l.Right(paint.Text, wording.Count(g.n), c.failed).Right(paint.Muted, share(g.n, p.failed), c.share)
	l.Right(paint.Muted, p.look.age(g.last), c.last).Right(paint.Text, sums(&g.lost, c.lost-1), c.lost)
}

// sums writes the known totals in at most room cells: "at least" if some are unknown, and a
// dash if all are.
func sums(p *account.Purse, room int) string {
	all := p.Sorted()
	if len(all) == 0 {
		return "–"
	}
	text := wording.Sum(all, 0)
	if p.Unpriced > 0 {
		text = sign.Grounds(account.Counted) + text
	}
	if paint.Width(text) > room {
		return wording.Counted(len(all), "large sum", "currencies")
	}
	return text
}
