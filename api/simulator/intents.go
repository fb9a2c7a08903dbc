package simulator

import (
	"fmt"
	"net/http"
	"time"

	"tillwatch/api"
)

// admit charges the daily bucket for a new intent, unless the agents or the day
// are used up (contract, Limits). It returns what is said to whom it does not
// admit. The caller holds the lock and keeps it until the intent is there.
func (s *Simulator) admit(now time.Time) (refusal string) {
	switch {
	case s.buckets.agents.full(now):
		return fmt.Sprintf("You have reached the limit of %d running agents", s.buckets.agents.limit)
	case !s.buckets.intents.take(now):
		return fmt.Sprintf("You have reached the limit of %d checkout intents per day", s.buckets.intents.limit)
	}
	return ""
}

func (s *Simulator) createIntent(r *request) answer   { return s.takeOrder(r, false) }
func (s *Simulator) purchaseIntent(r *request) answer { return s.takeOrder(r, true) }

func (s *Simulator) takeOrder(r *request, purchase bool) answer {
	var c checker
	var w intentWire
	var payment *paymentWire
	if o := c.body(r); o != nil {
		w, payment = c.order(o, purchase)
	}
	if len(c) > 0 {
		return invalid(c)
	}
	now := time.Now()
	if refusal := s.admit(now); refusal != "" {
		return tooMany(refusal)
	}
	fate := s.shop.fates[w.ReferenceID]
	fate.Purchase = purchase
	in := s.open(now, w, payment, fate)
	return created(in.intentWire)
}

const noIntent = "Checkout intent not found"

// ofIntent is an operation on the intent that the path names.
func (s *Simulator) ofIntent(run func(*request, *intent) answer) operation {
	return func(r *request) answer {
		in := s.intents[r.PathValue("id")]
		if in == nil {
			return notFound(noIntent)
		}
		return run(r, in)
	}
}

func (s *Simulator) getIntent(_ *request, in *intent) answer { return ok(in.intentWire) }

// confirmIntent submits an intent for purchase. The body may name the payment;
// without one, the payment chosen at the creation is used.
func (s *Simulator) confirmIntent(r *request, in *intent) answer {
	var c checker
	var payment *paymentWire
	if o := c.body(r); o != nil {
		payment = c.payment(o, false)
	}
	switch {
	case len(c) > 0:
		return invalid(c)
	case in.State != api.AwaitingConfirmation && s.cfg.StateConflicts:
		return answer{status: http.StatusConflict, body: stateErrorWire{
			"InvalidCheckoutIntentStateError", "Checkout intent is not awaiting confirmation", in.State}}
	case in.State != api.AwaitingConfirmation:
		return notFound(noIntent)
	case payment == nil && in.payment == nil:
		return invalidField("body.paymentMethod", "'paymentMethod' is required")
	}
	s.confirm(in, payment, time.Now())
	return ok(in.intentWire)
}

// listIntents is not shown in the contract: see [Lists].
func (s *Simulator) listIntents(r *request) answer {
	if s.cfg.Lists != ListsServed {
		return s.noList(r)
	}
	var c checker
	q := c.page(r)
	ids, states := c.filter(r, "id", nil), c.filter(r, "state", func(state string) bool { return api.IntentState(state).Known() })
	return c.pageOf(q, len(s.order), func(i int) (any, bool) {
		in := s.order[i]
		return in.intentWire, ids.allows(in.ID) && states.allows(string(in.State))
	})
}

func (s *Simulator) noList(r *request) answer {
	if s.cfg.Lists == ListsHTML {
		return answer{status: http.StatusNotFound, html: "<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot GET " + r.URL.Path + "</pre></body></html>"}
	}
	return notFound("Not found")
}
