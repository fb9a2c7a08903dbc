package simulator

import (
	"net/http"

	"tillwatch/api"
)

func (h *handlers) createIntent(r *request) answer   { return h.takeOrder(r, false) }
func (h *handlers) purchaseIntent(r *request) answer { return h.takeOrder(r, true) }

func (h *handlers) takeOrder(r *request, purchase bool) answer {
	var c checker
	var w intentWire
	var payment *paymentWire
	if o := c.body(r); o != nil {
		w, payment = c.order(o, purchase)
	}
	if len(c) > 0 {
		return invalid(c)
	}
	now := h.sim.agenda.now()
	if refusal := h.sim.fulfilment.admit(now); refusal != "" {
		return tooMany(refusal)
	}
	fate := h.sim.shop.fates[fateKey(w.ReferenceID, w.ProductURL)]
	fate.Purchase = purchase
	in := h.sim.fulfilment.open(now, w, payment, fate)
	return created(in.intentWire)
}

const noIntent = "Checkout intent not found"

// ofIntent adapts an operation on the intent that the path names.
func ofIntent(s *Simulator, run func(*request, *intent) answer) operation {
	return func(r *request) answer {
		in := s.fulfilment.intents[r.PathValue("id")]
		if in == nil {
			return notFound(noIntent)
		}
		return run(r, in)
	}
}

func (h *handlers) getIntent(_ *request, in *intent) answer { return ok(in.intentWire) }

// confirmIntent submits an intent for purchase. The body may name the payment; otherwise
// the one chosen at the creation is used.
func (h *handlers) confirmIntent(r *request, in *intent) answer {
	var c checker
	var payment *paymentWire
	if o := c.body(r); o != nil {
		payment = c.payment(o, false)
	}
	switch {
	case len(c) > 0:
		return invalid(c)
	case in.State != api.AwaitingConfirmation && h.sim.cfg.StateConflicts:
		return wrongState("Checkout intent is not awaiting confirmation", in.State)
	case in.State != api.AwaitingConfirmation:
		return notFound(noIntent)
	case payment == nil && in.Payment == nil:
		return invalidField("body.paymentMethod", "'paymentMethod' is required")
	}
	h.sim.fulfilment.confirm(in, payment, h.sim.agenda.now())
	return ok(in.intentWire)
}

// listIntents lists the intents. The contract does not show this endpoint: see [Lists].
func (h *handlers) listIntents(r *request) answer {
	if h.sim.cfg.Lists != ListsServed {
		return h.noList(r)
	}
	var c checker
	q := c.page(r)
	ids, states := c.filter(r, "id", nil), c.filter(r, "state", func(state string) bool { return api.IntentState(state).Known() })
	return pageOf(c, q, &h.sim.fulfilment.order, func(in *intent) (any, bool) {
		return in.intentWire, ids.allows(in.ID) && states.allows(string(in.State))
	})
}

func (h *handlers) noList(r *request) answer {
	if h.sim.cfg.Lists == ListsHTML {
		return answer{status: http.StatusNotFound, html: "<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot GET " + r.URL.Path + "</pre></body></html>"}
	}
	return notFound("Not found")
}
