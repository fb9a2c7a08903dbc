package simulator

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

// webhooks holds the events and the registered endpoints that deliver them.
type webhooks struct {
	cfg        *Config
	goroutines *goroutines
	mu         *sync.Mutex // the simulator's; guards all below
	events     eventLog
	endpoints  []*endpoint
	faults     []EventFault // not used up yet
	sent       *deliveries.Log
}

// emit records an event and wakes the endpoints.
func (w *webhooks) emit(at time.Time, kind api.EventType, source, suffix string, data any) event {
	e := event{kind: kind, source: source, suffix: suffix, at: at.UnixMilli()}
	if data != nil {
		e.data = encode(data)
	}
	if !w.events.has(e) {
		e.fault = w.fault(e)
		w.add(e)
		for _, endpoint := range w.endpoints {
			endpoint.wake()
		}
	}
	return e
}

// add appends an event to the log. The endpoints lose what the log lets go for it before they have planned it.
func (w *webhooks) add(e event) {
	gone := w.events.add(e)
	first := w.events.gone - len(gone)
	for _, endpoint := range w.endpoints {
		if unread := gone[min(max(endpoint.next-first, 0), len(gone)):]; len(unread) > 0 {
			endpoint.lostUnread(unread)
		}
	}
}

// endpoint returns the index of an endpoint by its id; -1 if there is none.
func (w *webhooks) endpoint(id string) int {
	return slices.IndexFunc(w.endpoints, func(e *endpoint) bool { return e.summary.ID == id })
}

// newEndpoint returns an endpoint that delivers the events from index first on.
func (w *webhooks) newEndpoint(url string, first int, now time.Time) *endpoint {
	d := newDice(w.cfg.Seed, diceEndpoint, uint64(len(w.endpoints))<<32|uint64(w.events.made()))
	e := &endpoint{webhooks: w, next: first, dice: d, bell: make(bell, 1)}
	e.open, e.close = context.WithCancel(context.Background())
	e.summary = EndpointSummary{ID: d.id("we_"), URL: url}
	e.client = &http.Client{
		Transport:     w.cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if e.client.Transport == nil {
		e.client.Transport = &http.Transport{MaxIdleConnsPerHost: senders}
	}
	e.challenge = event{kind: api.VerificationChallenge, source: e.summary.ID, suffix: "verification_challenge", at: now.UnixMilli()}
	w.add(e.challenge)
	return e
}

// register saves a webhook URL, as the account console does. With history it delivers
// all events since the start, otherwise only new ones. A registered URL is verified
// again and continues after its last planned event; its pending attempts end. The caller
// holds the lock.
func (w *webhooks) register(url string, history bool, now time.Time) *endpoint {
	first := w.events.made()
	kept := w.endpoints[:0:0]
	for _, e := range w.endpoints {
		if e.summary.URL != url {
			kept = append(kept, e)
			continue
		}
		first = min(first, e.next)
		e.close()
	}
	if history {
		first = w.events.gone
	}
	e := w.newEndpoint(url, first, now)
	w.endpoints = append(kept, e)
	if w.goroutines.running != nil {
		w.goroutines.spawn("webhook endpoint", e.run)
	}
	return e
}
