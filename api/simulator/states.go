package simulator

import (
	"cmp"
	"fmt"
	"time"

	"tillwatch/api"
)

// open adds a new intent in retrieving_offer (contract, States and transitions).
func (f *fulfilment) open(at time.Time, w intentWire, payment *paymentWire, fate Fate) *intent {
	number := uint64(f.order.made() + 1)
	d := newDice(f.cfg.Seed, diceIntent, number)
	w.ID = d.id("ci_")
	w.CreatedAt = stamp(at)
	w.State = api.RetrievingOffer
	in := &intent{keptIntent: keptIntent{intentWire: w, Fate: fate, Payment: payment}, created: at, number: number}
	m := magicOf(w.ProductURL)
	if in.Fate.Failure == "" {
		in.Fate.Failure, in.Fate.WhilePlacing = m.failure, m.placing
	}
	f.add(in)

	took := f.cfg.took(d, in.Fate.OfferAfter, f.cfg.Timings.Offer)
	switch m.situation {
	case slowOffer:
		took *= 10
	case neverOffered:
		took = f.cfg.window() * 2
	}
	if took < f.cfg.window() {
		in.Due = at.Add(took)
		f.planStep(in)
	}
	f.agenda.plan(at.Add(f.cfg.window()), func(time.Time) { f.expire(in) })
	return in
}

// planStep plans the next step that an intent takes by itself.
func (f *fulfilment) planStep(in *intent) {
	planned := in.State
	f.agenda.plan(in.Due, func(at time.Time) {
		switch {
		case in.State != planned || planned.Terminal():
		case planned == api.PlacingOrder:
			f.endPlacing(in, at)
		case planned == api.AwaitingConfirmation && in.Fate.Failure == expired:
			f.expire(in)
		case planned == api.AwaitingConfirmation:
			f.confirm(in, nil, at)
		case in.Offer == nil: // with an offer it waits for an agent
			f.endRetrieval(in, at)
		}
	})
}

// endRetrieval gives an intent its offer, or fails it.
func (f *fulfilment) endRetrieval(in *intent, at time.Time) {
	if in.State != api.RetrievingOffer {
		return
	}
	if fate := in.Fate; fate.Failure != "" && fate.Failure != expired && !fate.WhilePlacing {
		f.failRetrieval(in, failureOf(fate.Failure), at)
		return
	}
	offer, failure := f.priceOffer(in, at)
	if failure != nil {
		f.failRetrieval(in, failure, at)
		return
	}
	in.Offer = offer
	if in.Fate.Purchase {
		f.purchase(in, at)
		return
	}
	in.PaymentMethod = in.Payment
	f.enter(in, api.AwaitingConfirmation)
	f.webhooks.emit(at, api.OfferRetrieved, in.ID, string(in.State), nil)
	switch in.Due = (time.Time{}); {
	case in.Fate.Failure == expired:
		in.Due = at.Add(f.cfg.vary(newDice(f.cfg.Seed, diceOrder, in.number), f.cfg.Timings.Placing))
	case in.Fate.ConfirmAfter > 0:
		in.Due = at.Add(f.cfg.scaled(in.Fate.ConfirmAfter))
	}
	if !in.Due.IsZero() {
		f.planStep(in)
	}
}

func (f *fulfilment) failRetrieval(in *intent, reason *failureWire, at time.Time) {
	in.FailureReason = reason
	f.enter(in, api.Failed)
	f.webhooks.emit(at, api.OfferFailed, in.ID, string(in.State), nil)
}

// purchase places the order of a one-step purchase, which skips awaiting_confirmation, once an agent is free.
func (f *fulfilment) purchase(in *intent, at time.Time) {
	if f.buckets.agents.full(at) {
		f.queued = append(f.queued, in)
		return
	}
	in.PaymentMethod = in.Payment
	f.place(in, at)
}

// confirm submits an awaiting intent for purchase, with the given payment or, if nil, the one chosen at its creation.
// It does nothing to others.
func (f *fulfilment) confirm(in *intent, payment *paymentWire, at time.Time) {
	if in.State != api.AwaitingConfirmation {
		return
	}
	in.PaymentMethod = cmp.Or(payment, in.PaymentMethod, &paymentWire{Type: api.Drawdown})
	f.place(in, at)
}

// place hands the order to an agent.
func (f *fulfilment) place(in *intent, at time.Time) {
	in.Orders++
	f.enter(in, api.PlacingOrder)
	took := f.cfg.took(newDice(f.cfg.Seed, diceOrder, in.number), in.Fate.PlacingAfter, f.cfg.Timings.Placing)
	if magicOf(in.ProductURL).situation == slowOrder {
		took *= 10
	}
	in.Due = at.Add(took)
	f.planStep(in)
}

// endPlacing completes an intent, or fails it, as its fate decides.
func (f *fulfilment) endPlacing(in *intent, at time.Time) {
	if in.State != api.PlacingOrder {
		return
	}
	if in.Fate.Failure != "" && in.Fate.WhilePlacing {
		in.FailureReason = failureOf(in.Fate.Failure)
		f.enter(in, api.Failed)
		f.webhooks.emit(at, api.OrderFailed, in.ID, string(in.State), nil)
	} else {
		p := f.catalogue.find(in.ProductURL)
		number := 10_000 + in.number*7 + newDice(f.cfg.Seed, diceOrder, in.number).Uint64N(7)
		in.OrderID = fmt.Sprintf(p.merchant.Orders, number)
		f.enter(in, api.Completed)
		f.webhooks.emit(at, api.IntentCompleted, in.ID, string(in.State), nil)
		f.planShipments(in, p, at)
	}
	f.placeQueued(at)
}

// placeQueued gives the free agent to the purchase that has waited longest. It skips those whose window has closed
// meanwhile.
func (f *fulfilment) placeQueued(at time.Time) {
	for len(f.queued) > 0 {
		next := f.queued[0]
		f.queued = f.queued[1:]
		if next.State == api.RetrievingOffer {
			f.purchase(next, at)
			return
		}
	}
}

// expire fails an intent that was not confirmed in time. There is no event for it.
func (f *fulfilment) expire(in *intent) {
	if in.State != api.AwaitingConfirmation && in.State != api.RetrievingOffer {
		return
	}
	in.FailureReason = failureOf(expired)
	f.enter(in, api.Failed)
}

// bring moves an intent on until it is in the state to, or in a terminal one.
func (f *fulfilment) bring(in *intent, to api.IntentState, now time.Time) {
	if in.State.Rank() < to.Rank() && in.State == api.RetrievingOffer {
		f.endRetrieval(in, now)
	}
	if in.State.Rank() < to.Rank() && in.State == api.AwaitingConfirmation {
		f.confirm(in, nil, now)
	}
	if in.State.Rank() < to.Rank() && in.State == api.PlacingOrder {
		f.endPlacing(in, now)
	}
}

// move brings an intent to a later state, by default the next one, whatever its fate was; with a failure it fails
// with that at its present step, or if the state comes before while its order is placed. It returns why it does not.
func (f *fulfilment) move(in *intent, to api.IntentState, failure api.FailureCode, now time.Time) (refusal string) {
	states := []api.IntentState{api.AwaitingConfirmation, api.PlacingOrder, api.Completed}
	switch {
	case in.State.Terminal():
		return "Checkout intent has ended"
	case to == "" && failure != "":
		to = api.Failed
	case to == "":
		to = states[in.State.Rank()]
	case to.Rank() <= in.State.Rank():
		return "Checkout intent is in this state or past it"
	}
	retrieves := in.State == api.RetrievingOffer
	switch {
	case to == api.Failed && failure == "" && retrieves:
		failure = "offer_retrieval_failed"
	case to == api.Failed && failure == "":
		failure = "order_placement_failed"
	}
	if failure == expired && to == api.Failed {
		if in.State == api.PlacingOrder {
			return "Checkout intent has no confirm window any more"
		}
		f.expire(in)
		return ""
	}
	in.Fate.Failure, in.Fate.WhilePlacing = failure, failure != "" && !(retrieves && to == api.Failed)
	f.bring(in, to, now)
	return ""
}
