package pane

import (
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// listColumns are the widths of the list's columns, with the blank before each; 0 hides
// one.
type listColumns struct{ state, merchant, about, total, special, age int }

const (
	specialWidth = 12
	leastSpecial = 9   // for the countdown and a gap, or unread
	leastProduct = 12  // below it, the merchant is hidden
	roomyList    = 110 // from there on, what is about a row has a column beside the merchant
)

// columns divides the width of a list, in which widest is the width of the widest total.
func (d *cards) columns(widest int) listColumns {
	c := listColumns{state: 13, special: leastSpecial, total: max(widest, moneyWidth) + 1, age: ageWidth + 1}
	if d.w < 56 {
		c.state = 2 // the glyph alone
	}
	product := func() int { return d.w - 1 - c.state - c.merchant - c.about - c.total - c.special - c.age }
	if d.w >= 72 {
		c.special, c.merchant = specialWidth, 18+min(max(d.w-88, 0), 8)
	}
	if d.w >= roomyList {
		c.about = product() / 2
	}
	if product() < leastProduct-1 {
		c.merchant, c.about = 0, 0
	}
	for _, giveUp := range []func(){
		func() { c.state = 2 },
		func() { c.total = min(c.total, moneyWidth+1) },
		func() { c.age = 0 },
		func() { c.total = 0 },
	} {
		if product() < someOfName+d.times {
			giveUp()
		}
	}
	return c
}

// drawList draws one line for each intent and each head of an order.
func (p *Intents) drawList() {
	rows, first := p.list.Window()
	if len(rows) == 0 {
		p.nothingMatches()
		return
	}
	widest := p.cards.widest + paint.Width(atLeast(p.orders != nil && p.look.Partial))
	c := p.cards.columns(widest)
	for i, row := range rows {
		at, l := first+i, p.start()
		under := p.focused && at == p.list.Index()
		if row.order != nil {
			p.cards.markHead(l, row, under)
			p.cards.headLine(l, row, c)
		} else {
			p.cards.mark(l, row, under)
			p.cards.listLine(l, row, c, branch(p.list.Found(), at))
		}
		p.push(l.On(paint.Base))
	}
}

// listLine draws an intent; branch stands before its product.
func (d *cards) listLine(l *paint.Line, row *intentRow, c listColumns, branch string) {
	m := sign.Intent(row.State)
	if c.state > 2 {
		l.Put(m.Style, m.Glyph).Space(1).Fit(m.Style, m.Word, c.state-3).Space(1)
	} else {
		l.Fit(m.Style, m.Glyph, c.state)
	}
	l.Put(paint.Faint, branch)
	d.product(l, row, l.Left()-c.merchant-c.about-c.total-c.special-c.age)
	left, about := shortened(string(row.Merchant), c.merchant-1), ""
	if branch == "" {
		about = string(row.ReferenceID) // else in the head
	}
	if row.lane == laneFailed && !row.ReadAt.IsZero() {
		if about = wording.Failure(row.Failure); c.about == 0 {
			left = about
		}
	}
	l.Cell(1, paint.Muted, left, c.merchant)
	text, style := d.special(row, 20)
	if end := l.At() + c.about; c.about > 0 {
		l.Space(1).Fit(paint.Muted, about, min(paint.Width(about), c.about-1))
		d.bar(l, row, style, c.about/3, end)
	}
	if c.total > 0 {
		total, style := d.amount(row)
		l.Space(1)
		d.glowing(l, row, whole(total, c.total-1), style, c.total-1)
	}
	d.lastly(l, row, c, text, style, d.ageStyle(row))
}

// lastly draws what is special about a row and its age, apart: "in 1m 20s" would be one time.
func (d *cards) lastly(l *paint.Line, row *intentRow, c listColumns, special string, style, age paint.Style) {
	if c.age == 0 {
		l.Space(1).Right(style, special, c.special-1)
		return
	}
	gap := min(max(c.special-1-paint.Width(special), 0), 2)
	l.Space(1).Right(style, special, c.special-1-gap).Space(gap)
	l.Space(1).Right(age, d.look.ageOf(row.Intent), c.age-1)
}
