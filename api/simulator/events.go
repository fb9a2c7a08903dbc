package simulator

import (
	"net/http"
	"net/url"
	"unicode/utf8"
)

const maxID = 512 // of an event, in characters

// getEvent answers with the event as it is delivered to webhook endpoints.
func (s *Simulator) getEvent(r *http.Request) answer {
	id := r.PathValue("id")
	if utf8.RuneCountInString(id) > maxID {
		return invalid(map[string]fieldWire{"id": {Message: "maxLength 512"}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.events.find(id)
	if !ok {
		return notFound("Event not found")
	}
	return answer{status: http.StatusOK, body: e.wire()}
}

// listEvents is not shown in the contract: see [Lists].
func (s *Simulator) listEvents(r *http.Request) answer {
	if s.cfg.Lists != ListsServed {
		return s.noList(r)
	}
	q, refusal := readPage(r)
	if refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return pageOf(q, s.events.len(),
		func(i int) uint64 { return uint64(i) + 1 },
		func(i int) (any, bool) { return s.events.events[i].wire(), true })
}

// lookUpProduct answers with the product at a URL, as it is now.
func (s *Simulator) lookUpProduct(r *http.Request) answer {
	raw := r.URL.Query().Get("url")
	if raw == "" {
		return invalid(map[string]fieldWire{"url": {Message: "'url' is required"}})
	}
	if u, err := url.Parse(raw); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return invalid(map[string]fieldWire{"url": {Message: "invalid url", Value: quoted(raw)}})
	}
	m := magicOf(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.catalogue.find(raw)
	if p.removed || m.situation == unpublished || m.failure == "product_not_found" {
		return notFound("Product not found")
	}
	return answer{status: http.StatusOK, body: p.wire(m)}
}
