package pane

import (
	"strconv"
	"strings"
	"time"

	"tillwatch/ui/dashboard/sign"
)

// findable is what an intent is found by: its text in lower case, and its figures.
type findable struct {
	needle
	since    time.Time
	worth    float64
	currency string // "" without a total
	quantity int    // 0 while not known
}

// foundBy is what the intent of a place is found by. It is made when it is first
// asked for, and again after the intent has changed.
func (p *Intents) foundBy(place uint32) *findable {
	for len(p.finds) <= int(place) {
		p.finds = append(p.finds, nil)
	}
	if p.finds[place] == nil {
		row := p.row(place)
		p.finds[place] = row.foundBy()
	}
	return p.finds[place]
}

// changed has what an intent is found by made again.
func (p *Intents) changed(place uint32) {
	if int(place) < len(p.finds) {
		p.finds[place] = nil
	}
}

func (r *intentRow) foundBy() *findable {
	more := make([]string, 0, 4)
	if r.failure != nil {
		more = append(more, string(r.failure.Code), failureWords(r.failure))
	}
	f := &findable{since: r.since, quantity: r.quantity}
	if r.priced {
		f.worth, _ = strconv.ParseFloat(r.total.Amount(), 64)
		f.currency = r.total.Currency
		more = append(more, r.total.String())
	}
	more = append(more, r.reference)
	f.needle = newNeedle(worded(r.state, sign.Intent(r.state)), r.merchant, r.product, string(r.id), strings.Join(more, " "))
	return f
}

func (f *findable) search() *needle { return &f.needle }

func (f *findable) figure(of figure, now time.Time) (float64, string, bool) {
	switch of {
	case amount:
		return f.worth, f.currency, f.currency != ""
	case age:
		return now.Sub(f.since).Seconds(), "", !f.since.IsZero()
	case count:
		return float64(f.quantity), "", f.quantity > 0
	}
	return 0, "", false
}
