package pane

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// The columns of an event in a wide pane.
const (
	aboutFrom    = 140 // the least width of a pane with these columns
	nameRoom     = 40  // the most for the product while a reason needs room
	longName     = 68  // the most for the product while an id needs room
	merchantRoom = 20
	amountRoom   = 14 // for the total of an offer or an order
	reasonRoom   = 26 // the most for a failure
	shortID      = 14 // the beginning of an id, where there is no room for all of it
)

// about is what an event is about: the merchant, and the amount or the failure. It is set
// once known; what a later read changes belongs to a later event.
type about struct{ merchant, total, failure string }

// learn completes the rows with what has become known.
func (p *Events) learn() {
	for _, row := range p.list.All() {
		if row.complete(row.Type) {
			continue
		}
		before := row.about
		if in, ok := p.intentOf(row.SourceID); ok {
			row.learn(row.Type, in)
		}
		p.stale = p.stale || row.about != before
	}
}

func (a *about) learn(t api.EventType, in *account.Intent) {
	if a.merchant == "" {
		a.merchant = string(in.Merchant)
	}
	switch t {
	case api.OfferFailed, api.OrderFailed:
		if a.failure == "" || in.Failure != nil {
			a.failure = wording.Failure(in.Failure)
		}
	case api.OfferRetrieved, api.IntentCompleted:
		if a.total == "" && in.Total != nil {
			a.total = in.Total.Readable()
		}
	}
}

// complete reports whether nothing that is learnt later changes it.
func (a *about) complete(t api.EventType) bool {
	switch t {
	case api.OfferFailed, api.OrderFailed:
		return false // a read may name another reason
	case api.OfferRetrieved, api.IntentCompleted:
		return a.merchant != "" && a.total != ""
	}
	return a.merchant != ""
}

// aboutRoom returns the width of the columns for the merchant and for an outcome of that width.
func (p *Events) aboutRoom(outcome int) (w int) {
	return 2 + merchantRoom + 2 + outcome
}

// drawAbout draws the merchant, and the amount or the failure, in w cells.
func (p *Events) drawAbout(l *paint.Line, row *eventRow, w int) {
	l.Space(2).Fit(paint.Muted, shortened(row.merchant, merchantRoom), merchantRoom).Space(2)
	w -= 2 + merchantRoom + 2
	if row.failure != "" {
		l.Fit(paint.Failed, row.failure, w)
		return
	}
	l.Right(paint.Text, whole(row.total, amountRoom), amountRoom).Space(w - amountRoom)
}
