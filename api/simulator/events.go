package simulator

import "unicode/utf8"

const maxID = 512 // of an event, in characters

// getEvent answers with the event as it is delivered to webhook endpoints.
func (s *Simulator) getEvent(r *request) answer {
	id := r.PathValue("id")
	if utf8.RuneCountInString(id) > maxID {
		return invalidField("id", "maxLength 512")
	}
	e, known := s.events.find(id)
	if !known {
		return notFound("Event not found")
	}
	return ok(e.wire())
}

// listEvents is not shown in the contract: see [Lists].
func (s *Simulator) listEvents(r *request) answer {
	if s.cfg.Lists != ListsServed {
		return s.noList(r)
	}
	var c checker
	return c.pageOf(c.page(r), s.events.len(), func(i int) (any, bool) { return s.events.events[i].wire(), true })
}
