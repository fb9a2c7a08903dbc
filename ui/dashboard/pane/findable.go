package pane

import (
	"strconv"
	"strings"
	"time"

	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// findable is what an intent is found by: its text in lower case, and its figures.
type findable struct {
	needle
	since    time.Time
	worth    float64
	currency string // "" without a total
	quantity int    // 0 while not known
}

// foundBy is what the intent is found by, made when it is first asked for.
func (r *intentRow) foundBy() *findable {
	if r.found == nil {
		r.found = r.newFindable()
	}
	return r.found
}

func (r *intentRow) newFindable() *findable {
	more := make([]string, 0, 4)
	if r.Failure != nil {
		more = append(more, string(r.Failure.Code), wording.Failure(r.Failure))
	}
	f := &findable{since: r.Since, quantity: r.Quantity}
	if r.Total != nil {
		f.worth, _ = strconv.ParseFloat(r.Total.Amount(), 64)
		f.currency = r.Total.Currency
		more = append(more, r.Total.String())
	}
	more = append(more, string(r.ReferenceID))
	f.needle = newNeedle(worded(r.State, sign.Intent(r.State)), string(r.Merchant), string(r.Product), string(r.ID), strings.Join(more, " "))
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
