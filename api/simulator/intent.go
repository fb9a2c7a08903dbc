package simulator

import (
	"fmt"
	"time"

	"tillwatch/api"
)

// Fate is what befalls an intent. Zero fields leave it to the product URL and to
// the timings of the simulator; durations are as at speed 1 and exact.
type Fate struct {
	Failure      api.FailureCode // "": it completes, when it is confirmed
	WhilePlacing bool            // the failure strikes while the order is placed
	OfferAfter   time.Duration   // retrieving takes this long
	PlacingAfter time.Duration   // placing takes this long
	ConfirmAfter time.Duration   // confirmed by itself this long after the offer; 0: never
	Purchase     bool            // one step: no stop at awaiting_confirmation

	legsBy   time.Time // history: the first legs of its shipments fall before this time
	legsDone int       // and this many they are
}

// intent is a checkout intent. It is immutable but for its state and what comes
// with the state.
type intent struct {
	intentWire
	created time.Time
	number  uint64 // by creation, from 1
	fate    Fate
	payment *paymentWire // chosen; shown from awaiting_confirmation on
	parcels uint64       // shipments so far
	orders  int          // that were placed
}

// open adds a new intent in retrieving_offer (contract, States and transitions).
func (s *Simulator) open(at time.Time, w intentWire, payment *paymentWire, fate Fate) *intent {
	number := uint64(len(s.order) + 1)
	d := s.dice(diceIntent, number)
	w.ID = d.id("ci_")
	w.CreatedAt = stamp(at)
	w.State = api.RetrievingOffer
	in := &intent{intentWire: w, created: at, number: number, fate: fate, payment: payment}
	m := magicOf(w.ProductURL)
	if in.fate.Failure == "" {
		in.fate.Failure, in.fate.WhilePlacing = m.failure, m.placing
	}
	s.intents[in.ID] = in
	s.order = append(s.order, in)
	s.states[in.State]++

	took := s.took(d, in.fate.OfferAfter, s.cfg.Timings.Offer)
	switch m.situation {
	case slowOffer:
		took *= 10
	case neverOffered:
		took = s.window() * 2
	}
	if patience := s.scaled(lowEffortFactor * s.cfg.Timings.Offer); in.effort() == effortLow && took > patience {
		s.agenda.plan(at.Add(patience), func(at time.Time) { s.giveUpRetrieval(in, at) })
	} else if took < s.window() {
		s.agenda.plan(at.Add(took), func(at time.Time) { s.endRetrieval(in, at) })
	}
	s.agenda.plan(at.Add(s.window()), func(at time.Time) { s.expire(in, at) })
	return in
}

func (s *Simulator) window() time.Duration { return s.scaled(s.cfg.Timings.ConfirmWindow) }

// took is how long a step takes: as the fate says, or about as configured.
func (s *Simulator) took(d dice, fated, about time.Duration) time.Duration {
	if fated > 0 {
		return s.scaled(fated)
	}
	return s.vary(d, about)
}

func (s *Simulator) enter(in *intent, state api.IntentState) {
	s.states[in.State]--
	s.states[state]++
	s.buckets.agents.used = s.states[api.PlacingOrder]
	in.State = state
}

// endRetrieval gives an intent its offer, or fails it if there is none.
func (s *Simulator) endRetrieval(in *intent, at time.Time) {
	if in.State != api.RetrievingOffer {
		return
	}
	if f := in.fate; f.Failure != "" && f.Failure != expired && !f.WhilePlacing {
		s.failRetrieval(in, failureOf(f.Failure), at)
		return
	}
	offer, failure := s.priceOffer(in, at)
	if failure != nil {
		s.failRetrieval(in, failure, at)
		return
	}
	in.Offer = offer
	if in.fate.Purchase {
		s.purchase(in, at)
		return
	}
	in.PaymentMethod = in.payment
	s.enter(in, api.AwaitingConfirmation)
	s.emit(at, api.OfferRetrieved, in.ID, string(in.State), nil)
	switch {
	case in.fate.Failure == expired:
		s.agenda.plan(at.Add(s.vary(s.dice(diceOrder, in.number), s.cfg.Timings.Placing)), func(at time.Time) { s.expire(in, at) })
	case in.fate.ConfirmAfter > 0:
		s.agenda.plan(at.Add(s.scaled(in.fate.ConfirmAfter)), func(at time.Time) { s.confirm(in, nil, at) })
	}
}

// lowEffortFactor is how many times as long as usual a retrieval of low effort may
// take.
const lowEffortFactor = 3

func (in *intent) effort() string {
	if in.Constraints == nil {
		return effortMax
	}
	return in.Constraints.OfferRetrievalEffort
}

// giveUpRetrieval fails an intent of low effort whose merchant takes too long.
func (s *Simulator) giveUpRetrieval(in *intent, at time.Time) {
	if in.State == api.RetrievingOffer {
		s.failRetrieval(in, failureOf("offer_retrieval_failed"), at)
	}
}

func (s *Simulator) failRetrieval(in *intent, reason *failureWire, at time.Time) {
	in.FailureReason = reason
	s.enter(in, api.Failed)
	s.emit(at, api.OfferFailed, in.ID, string(in.State), nil)
}

// purchase places the order of a one-step purchase, which has no stop at
// awaiting_confirmation, once an agent is free.
func (s *Simulator) purchase(in *intent, at time.Time) {
	if s.buckets.agents.full(at) {
		s.queued = append(s.queued, in)
		return
	}
	in.PaymentMethod = in.payment
	s.place(in, at)
}

// confirm submits an awaiting intent for purchase, with the payment given or
// else the one chosen at its creation. It reports whether the intent was
// confirmable.
func (s *Simulator) confirm(in *intent, payment *paymentWire, at time.Time) bool {
	if in.State != api.AwaitingConfirmation {
		return false
	}
	if payment != nil {
		in.PaymentMethod = payment
	}
	if in.PaymentMethod == nil {
		in.PaymentMethod = &paymentWire{Type: api.Drawdown}
	}
	s.place(in, at)
	return true
}

// place hands the order to an agent.
func (s *Simulator) place(in *intent, at time.Time) {
	in.orders++
	s.enter(in, api.PlacingOrder)
	took := s.took(s.dice(diceOrder, in.number), in.fate.PlacingAfter, s.cfg.Timings.Placing)
	if magicOf(in.ProductURL).situation == slowOrder {
		took *= 10
	}
	s.agenda.plan(at.Add(took), func(at time.Time) { s.endPlacing(in, at) })
}

// Orders is how many orders were placed for an intent: what a client says of its
// confirms is to be measured by it.
func (s *Simulator) Orders(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, ok := s.intents[id]; ok {
		return in.orders
	}
	return 0
}

// Reprice changes the total of an intent that awaits confirmation, as a merchant
// does whose price went up in the meantime, by an amount in subunits that its
// subtotal bears. It reports whether there is such an intent.
func (s *Simulator) Reprice(id string, by int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.intents[id]
	if !ok || in.State != api.AwaitingConfirmation || in.Offer == nil {
		return false
	}
	offer := *in.Offer
	offer.Cost.Subtotal.AmountSubunits += by
	offer.Cost.Total.AmountSubunits += by
	in.Offer = &offer
	return true
}

// FinishPlacing ends the placing of an intent's order now rather than in its
// time, as it is fated to end. It reports whether the intent was being placed.
func (s *Simulator) FinishPlacing(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.intents[id]
	if !ok || in.State != api.PlacingOrder {
		return false
	}
	s.endPlacing(in, time.Now())
	return true
}

// endPlacing completes an intent, or fails it if the merchant did not take the
// order.
func (s *Simulator) endPlacing(in *intent, at time.Time) {
	if in.State != api.PlacingOrder {
		return
	}
	if in.fate.Failure != "" && in.fate.WhilePlacing {
		in.FailureReason = failureOf(in.fate.Failure)
		s.enter(in, api.Failed)
		s.emit(at, api.OrderFailed, in.ID, string(in.State), nil)
	} else {
		p := s.catalogue.find(in.ProductURL)
		in.OrderID = fmt.Sprintf(p.merchant.Orders, 10_000+in.number*7+s.dice(diceOrder, in.number).Uint64N(7))
		s.enter(in, api.Completed)
		s.emit(at, api.IntentCompleted, in.ID, string(in.State), nil)
		s.planShipments(in, p, at)
	}
	s.placeQueued(at)
}

// placeQueued gives the agent that became free to the purchase that has waited
// longest; one whose window closed meanwhile has lost its turn.
func (s *Simulator) placeQueued(at time.Time) {
	for len(s.queued) > 0 {
		next := s.queued[0]
		s.queued = s.queued[1:]
		if next.State == api.RetrievingOffer {
			s.purchase(next, at)
			return
		}
	}
}

// expire ends an intent that was not confirmed in time. There is no event for
// it.
func (s *Simulator) expire(in *intent, at time.Time) {
	if in.State != api.AwaitingConfirmation && in.State != api.RetrievingOffer {
		return
	}
	in.FailureReason = failureOf(expired)
	s.enter(in, api.Failed)
}
