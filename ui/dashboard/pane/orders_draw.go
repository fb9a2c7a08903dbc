package pane

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// branch returns the line that leads from a head to an item; "" for other intents.
func branch(rows []*intentRow, at int) string {
	switch head := rows[at].head; {
	case head == nil:
		return ""
	case at+1 == len(rows) || rows[at+1].head == nil || rows[at+1].head.key() != head.key():
		return "└ "
	}
	return "├ "
}

// markHead draws the gutter of a head: a mark if all its awaiting items are marked.
func (d *cards) markHead(l *paint.Line, row *intentRow, under bool) {
	marked, waiting := 0, 0
	for _, item := range row.items {
		if d.marks[item.ID] {
			marked++
		}
		if item.State == api.AwaitingConfirmation {
			waiting++
		}
	}
	switch {
	case marked > 0 && marked == waiting:
		if under {
			l.On(paint.Selected)
		}
		l.Put(paint.Accent, sign.Marked().Glyph)
	default:
		d.gutter(l, under, d.look.Opened == row.subject(), d.glows(row.turned))
	}
}

// headLine draws an order in the columns of its items.
func (d *cards) headLine(l *paint.Line, row *intentRow, c listColumns) {
	o := row.order
	worst, best := sign.Intent(o.Worst), sign.Intent(o.Best)
	start := l.At()
	l.Put(worst.Style|paint.Bold, worst.Glyph)
	if c.state > 2 {
		if o.Worst == o.Best {
			l.Space(1).Fit(worst.Style|paint.Bold, worst.Word, c.state-3)
		} else {
			l.Put(paint.Muted, "…").Put(best.Style|paint.Bold, best.Glyph)
		}
	}
	l.To(start + c.state)
	d.headName(l, o, l.Left()-c.merchant-c.about-c.total-c.special-c.age, c.about == 0)
	l.Cell(1, paint.Muted, shortened(string(row.Merchant), c.merchant-1), c.merchant)
	text, style := d.countdown(row, 20)
	if end := l.At() + c.about; c.about > 0 {
		standing(l.Space(1), o, "", end)
		d.bar(l, row, style, c.about/3, end)
	}
	if c.total > 0 {
		l.Space(1).Right(paint.Text|paint.Bold, whole(d.sum(row), c.total-1), c.total-1)
	}
	d.lastly(l, row, c, text, style, paint.Muted)
}

// sum writes the totals of an order, with "at least" if a total is unknown or an item may
// be missing; without any, what an item would show.
func (d *cards) sum(row *intentRow) string {
	if row.total == "" {
		unknown, _ := d.amount(row)
		return unknown
	}
	return atLeast(row.order.Unpriced > 0 || d.look.Partial) + row.total
}

// headName draws the name of an order and the number of its items and, if wanted, how it
// stands.
func (d *cards) headName(l *paint.Line, o *account.Order, w int, stands bool) {
	end := l.At() + w
	more := atLeast(d.look.Partial)
	reference, least := string(o.Reference), " ("+more+wording.Count(len(o.Intents))+")"
	l.Fit(paint.Text|paint.Bold, reference, min(paint.Width(reference), max(w-paint.Width(least), 0)))
	if items := " · " + more + wording.Counted(len(o.Intents), "item", "items"); paint.Width(items) <= end-l.At() {
		l.Put(paint.Muted, items)
	} else if paint.Width(least) <= end-l.At() {
		l.Put(paint.Muted, least)
	}
	if stands {
		standing(l, o, " · ", end)
	}
	l.To(end)
}

// standing writes after a separator, as far as there is room before end, that an order
// failed in part, and its worst and best state.
func standing(l *paint.Line, o *account.Order, separator string, end int) {
	put := func(style paint.Style, text string) {
		if paint.Width(separator)+paint.Width(text) <= end-l.At() {
			l.Put(paint.Muted, separator).Put(style, text)
			separator = " · "
		}
	}
	if o.PartlyFailed {
		put(paint.Bad, "partly failed")
	}
	if o.Worst != o.Best {
		put(paint.Muted, sign.Intent(o.Worst).Word+" … "+sign.Intent(o.Best).Word)
	}
}
