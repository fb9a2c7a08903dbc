package pane

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// Order returns the shown order; nil if the subject is not an order.
func (p *Detail) Order() *account.Order { return p.facts.Order }

func (p *Detail) wholeOrder() {
	o := p.facts.Order
	p.orderHead(o)
	p.fact("items", paint.Text, atLeast(p.look.Partial)+sign.Items(o))
	p.fact("reference", paint.Text, string(o.Reference))
	p.orderTotal(o)
	if p.look.Partial {
		p.paragraph(paint.Muted, "not every intent is known: items may be missing")
	}
	if o.Closing != nil {
		p.expiry(o.Closing)
	}
	if o.PartlyFailed {
		p.heading("PARTLY FAILED")
		p.paragraph(paint.Failed, string(o.Reference)+" "+o.Trouble())
	}
	p.heading("ITEMS")
	money := 0
	for _, in := range o.Intents {
		if in.Total != nil {
			money = max(money, paint.Width(in.Total.Readable()))
		}
	}
	for _, in := range o.Intents {
		p.item(in, money)
	}
}

// orderHead adds the name of an order, with its worst and best state at the right.
func (p *Detail) orderHead(o *account.Order) {
	worst, best := sign.Intent(o.Worst), sign.Intent(o.Best)
	p.add(func(l *paint.Line) {
		right := paint.Width(worst.String())
		if o.Worst != o.Best {
			right += paint.Width(" … " + best.String())
		}
		l.Fit(paint.Text|paint.Bold, string(o.Reference), l.Left()-right-2).Space(1)
		l.Put(worst.Style|paint.Bold, worst.String())
		if o.Worst != o.Best {
			l.Put(paint.Muted, " … ").Put(best.Style|paint.Bold, best.String())
		}
	})
	p.blank()
}

func (p *Detail) orderTotal(o *account.Order) {
	for i, total := range o.Totals {
		text := atLeast(p.look.Partial || o.Unpriced > 0) + total.Readable()
		if i == 0 && o.Unpriced > 0 {
			text += ", " + wording.Count(o.Unpriced) + " not counted"
		}
		p.fact("total", paint.Text|paint.Bold, text)
	}
	if len(o.Totals) == 0 && o.Unpriced > 0 {
		p.fact("total", paint.Muted, "unknown")
	}
}

// item adds an item of an order, and below it what is special about it.
func (p *Detail) item(in *account.Intent, money int) {
	m := sign.Intent(in.State)
	name, _ := named(in.Product, in.ID)
	if in.Quantity > 1 {
		name += " ×" + wording.Count(in.Quantity)
	}
	below := string(in.Merchant)
	switch {
	case in.State == api.Failed:
		below += " · " + wording.Failure(in.Failure)
	case in.State == api.AwaitingConfirmation:
		if end := expiryOf(in, p.window); end.After(p.look.service()) {
			below += " · expires in " + wording.Age(end.Sub(p.look.service()))
		}
	}
	p.add(func(l *paint.Line) {
		l.Put(m.Style, m.Glyph).Space(1)
		l.Fit(m.Style, m.Word, itemState-1).Space(1)
		right := 1 + money
		l.Fit(paint.Text, name, l.Left()-right-1)
		if in.Total != nil {
			l.Space(1).Right(paint.Text, in.Total.Readable(), money)
		}
	}).value = string(in.ID)
	p.add(func(l *paint.Line) { l.Space(2+itemState).Fit(paint.Muted, below, l.Left()-1) }).value = string(in.ID)
}

// itemState is the width of the state of an item.
const itemState = 12
