package simulator

import (
	"fmt"
	"net/http"
	"time"

	"tillwatch/api"
)

// admission is whether a new intent is let in.
type admission int

const (
	admitted admission = iota
	overAgents
	overDay
)

// admit charges the daily bucket for a new intent, unless the agents or the day
// are used up (contract, Limits). The caller holds the lock and keeps it until
// the intent is there.
func (s *Simulator) admit(now time.Time) admission {
	if limit := s.buckets.agents.limit; limit >= 0 && s.placing() >= limit {
		return overAgents
	}
	if !s.buckets.intents.take(now) {
		return overDay
	}
	return admitted
}

func (s *Simulator) createIntent(r *http.Request) answer   { return s.takeOrder(r, false) }
func (s *Simulator) purchaseIntent(r *http.Request) answer { return s.takeOrder(r, true) }

func (s *Simulator) takeOrder(r *http.Request, purchase bool) answer {
	var c checker
	var w intentWire
	var payment *paymentWire
	if o := c.body(r); o != nil {
		w, payment = c.order(o, purchase)
	}
	if len(c.fields) > 0 {
		return invalid(c.fields)
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.admit(now) {
	case overAgents:
		return tooMany(fmt.Sprintf("You have reached the limit of %d running agents", s.buckets.agents.limit))
	case overDay:
		return tooMany(fmt.Sprintf("You have reached the limit of %d checkout intents per day", s.buckets.intents.limit))
	}
	fate := s.shop.fates[w.ReferenceID]
	fate.Purchase = purchase
	in := s.open(now, w, payment, fate)
	return created(in.intentWire)
}

const noIntent = "Checkout intent not found"

// ofIntent is an operation on the intent that the path names. It runs under the
// lock.
func (s *Simulator) ofIntent(run func(*intent) answer) operation {
	return func(r *http.Request) answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		in := s.intents[r.PathValue("id")]
		if in == nil {
			return notFound(noIntent)
		}
		return run(in)
	}
}

func (s *Simulator) getIntent(r *http.Request) answer {
	return s.ofIntent(func(in *intent) answer { return ok(in.intentWire) })(r)
}

// confirmIntent submits an intent for purchase. The body may name the payment;
// without one, the payment chosen at the creation is used.
func (s *Simulator) confirmIntent(r *http.Request) answer {
	var c checker
	var payment *paymentWire
	if o := c.body(r); o != nil {
		payment = c.payment(o, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.intents[r.PathValue("id")]
	if in == nil {
		return notFound(noIntent)
	}
	if len(c.fields) > 0 {
		return invalid(c.fields)
	}
	if in.State != api.AwaitingConfirmation {
		if s.cfg.StateConflicts {
			return answer{status: http.StatusConflict, body: stateErrorWire{
				"InvalidCheckoutIntentStateError", "Checkout intent is not awaiting confirmation", in.State}}
		}
		return notFound(noIntent)
	}
	if payment == nil && in.payment == nil {
		return invalidField("body.paymentMethod", "'paymentMethod' is required")
	}
	s.confirm(in, payment, time.Now())
	return ok(in.intentWire)
}

func (s *Simulator) listIntentShipments(r *http.Request) answer {
	q, refusal := readPage(r)
	if refusal != nil {
		return *refusal
	}
	return s.ofIntent(func(in *intent) answer {
		return pageOf(q, len(in.shipments),
			func(i int) uint64 { return in.shipments[i].number },
			func(i int) (any, bool) { return in.shipments[i].shipmentWire, true })
	})(r)
}

// listIntents is not shown in the contract: see [Lists].
func (s *Simulator) listIntents(r *http.Request) answer {
	if s.cfg.Lists != ListsServed {
		return s.noList(r)
	}
	q, refusal := readPage(r)
	if refusal != nil {
		return *refusal
	}
	ids, states, bad := filters(r, "id", "state", func(state string) bool { return api.IntentState(state).Known() })
	if bad != nil {
		return *bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return pageOf(q, len(s.order),
		func(i int) uint64 { return s.order[i].number },
		func(i int) (any, bool) {
			in := s.order[i]
			if !ids.allows(in.ID) || !states.allows(string(in.State)) {
				return nil, false
			}
			return in.intentWire, true
		})
}

func (s *Simulator) noList(r *http.Request) answer {
	if s.cfg.Lists == ListsHTML {
		return answer{status: http.StatusNotFound, html: "<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot GET " + r.URL.Path + "</pre></body></html>"}
	}
	return notFound("Not found")
}
