package simulator

import "unicode/utf8"

const maxID = 512 // of an event, in characters

// getEvent answers with the event as it is delivered to webhook endpoints.
func (h *handlers) getEvent(r *request) answer {
	id := r.PathValue("id")
	if utf8.RuneCountInString(id) > maxID {
		return invalidField("id", "maxLength 512")
	}
	e, known := h.sim.webhooks.events.find(id)
	if !known {
		return notFound("Event not found")
	}
	return ok(e.wire())
}

// listEvents is not shown in the contract: see [Lists].
func (h *handlers) listEvents(r *request) answer {
	if h.sim.cfg.Lists != ListsServed {
		return h.noList(r)
	}
	var c checker
	q := c.page(r)
	return pageOf(c, q, &h.sim.webhooks.events.series, func(e event) (any, bool) { return e.wire(), true })
}
