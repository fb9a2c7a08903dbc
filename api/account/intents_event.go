package account

import (
	"cmp"
	"time"

	"tillwatch/api"
)

// event merges an event of an intent. It moves the intent only to the state that its type proves, and only
// forward; a read must find out the rest.
func (t *intents) event(in *IntentDetail, e *Event, fresh bool, now time.Time) {
	at, b := cmp.Or(e.CreatedAt, e.Received), &in.basis
	late := at.Before(b.lastEvent)
	b.lastEvent = later(b.lastEvent, at)
	if in.CreatedAt.IsZero() && (b.known.IsZero() || at.Before(b.known)) {
		t.knownSince(in, at)
	}
	b.seen |= eventBit(e.Type)

	state, proves := e.Type.ProvenState()
	m := &Moment{What: EventTold, To: state, When: at, Learnt: e.learnt(now), EventID: e.ID, Type: e.Type, Late: late}
	switch {
	case e.Type == api.OfferFailed && in.State == api.Failed:
		in.Since, in.EndedAt = earlier(in.Since, at), at
	case !proves:
	case eventMoves(in, state, at):
		if in.State == api.AwaitingConfirmation {
			t.confirms.learn(in.Since, state, ByEvent, in.ReadAt, at, t.pace)
		}
		m.From = in.State
		t.moveTo(in, state, Reported, at)
	case in.State == state:
		in.Since = earlier(in.Since, at)
	default:
		m.From = in.State
	}
	if proves {
		in.entered(state, at)
	}
	b.floor = max(b.floor, state.Rank())
	e.lined = true
	in.remember(m)
	if proves && in.Certainty != Verified || e.Type == api.OfferFailed && in.Open() {
		t.news.note(signal{intent: in.ID, hint: true, fresh: fresh})
	}
}

// learnt is when the relay received the event; now if it does not say.
func (e *Event) learnt(now time.Time) time.Time {
	if e.Received.IsZero() {
		return utc(now)
	}
	return utc(earlier(e.Received, now))
}

// eventMoves reports whether an event that proves state moves the intent. It moves one in a state that the
// contract does not list only if it is newer than the read that showed that state, or proves the end.
func eventMoves(in *IntentDetail, state api.IntentState, at time.Time) bool {
	if state.Rank() <= in.basis.floor {
		return false
	}
	odd := in.State != "" && !in.State.Known()
	return !odd || state.Terminal() || at.After(in.Since)
}

// shipmentEvent adds a shipment's event to the timeline of its intent.
func (i *IntentDetail) shipmentEvent(e *Event, now time.Time) {
	if !i.remembers(e.ID) {
		i.remember(&Moment{What: ShipmentTold, EventID: e.ID, Type: e.Type, When: cmp.Or(e.CreatedAt, e.Received), Learnt: e.learnt(now)})
	}
}

// eventSet says which of the contract's intent events have been seen.
type eventSet uint8

const (
	sawOfferRetrieved eventSet = 1 << iota
	sawOfferFailed
	sawCompleted
	sawOrderFailed
)

func eventBit(t api.EventType) eventSet {
	switch t {
	case api.OfferRetrieved:
		return sawOfferRetrieved
	case api.OfferFailed:
		return sawOfferFailed
	case api.IntentCompleted:
		return sawCompleted
	case api.OrderFailed:
		return sawOrderFailed
	}
	return 0
}
