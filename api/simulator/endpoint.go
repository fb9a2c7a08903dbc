package simulator

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

const senders = 8 // deliveries to one endpoint at the same time

// endpoint is a registered webhook URL. It reads the event log at its own pace: first
// the challenge, then the events from before it was verified, one by one in order, then
// new events as they happen.
type endpoint struct {
	webhooks *webhooks
	client   *http.Client
	next     int // number of events planned or let go; only its own goroutine moves it, with the simulator's lock
	bell
	due        schedule[delivery]
	planned    uint64     // number of deliveries planned so far
	again      []delivery // deliveries on request; the simulator's lock guards it
	dice       dice
	challenge  event
	complaints *slog.Logger
	open       context.Context // ends when the URL is saved again
	close      context.CancelFunc

	mu      sync.Mutex
	summary EndpointSummary
}

// EndpointSummary is a webhook endpoint at one moment.
type EndpointSummary struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Verified  bool   `json:"verified"`
	Delivered uint64 `json:"delivered"`           // deliveries answered with 200
	Failures  uint64 `json:"failures"`            // failed attempts
	GivenUp   uint64 `json:"givenUp"`             // deliveries whose last attempt failed
	Lost      uint64 `json:"lost"`                // events never sent, because of a fault or let go before
	LastError string `json:"lastError,omitempty"` // of the last failed attempt; "" if none failed
}

// delivery is an event on its way to an endpoint.
type delivery struct {
	event   event
	number  uint64              // among the endpoint's deliveries, from 1
	attempt int                 // attempts before this one
	forged  bool                // this attempt carries a wrong signature or none
	sent    deliveries.Delivery // its entry in the log; zero before the first attempt
}

// run verifies the endpoint and delivers until ctx ends.
func (e *endpoint) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.open, cancel)()
	defer e.client.CloseIdleConnections()
	flush := e.complain()
	verified := e.verify(ctx)
	flush()
	if !verified {
		return
	}
	e.note(func(s *EndpointSummary) { s.Verified = true })
	e.webhooks.cfg.Logger.Info("webhook endpoint verified", e.about()...)
	defer e.complain()()
	e.deliver(ctx)
}

// deliver delivers the events from before the endpoint was verified one by one, and
// later ones several at a time. A failed delivery is tried again later, beside others.
func (e *endpoint) deliver(ctx context.Context) {
	type result struct {
		of  delivery
		err error
	}
	ended := make(chan result, senders) // room for all: a sender never waits
	var sending sync.WaitGroup
	defer func() {
		sending.Wait()
		for len(ended) > 0 {
			r := <-ended
			e.settle(ctx, r.of, r.err)
		}
		e.abandon()
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	inFlight, most := map[uint64]bool{}, 1 // numbers of deliveries
	for {
		now := time.Now()
		for _, ev := range e.unread() {
			e.plan(ev, now)
		}
		e.sendAgain(now, inFlight)
		for len(inFlight) < most && e.due.len() > 0 && !e.due.next().at.After(now) {
			d := e.due.pop().what
			inFlight[d.number] = true
			sending.Go(func() {
				defer e.webhooks.goroutines.reportPanic("webhook delivery")
				_, err := e.post(ctx, &d)
				ended <- result{d, err}
			})
		}
		if len(inFlight) == 0 { // all earlier events are delivered
			most = senders
		}
		pause := time.Hour
		if e.due.len() > 0 && len(inFlight) < most {
			pause = min(pause, max(0, time.Until(e.due.next().at)))
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-e.bell:
		case <-timer.C:
		case r := <-ended:
			delete(inFlight, r.of.number)
			e.settle(ctx, r.of, r.err)
		}
	}
}

// mostPlanned bounds the deliveries that an endpoint has planned: further events wait in the log.
const mostPlanned = 10_000

// unread takes the events that the endpoint has not planned yet, except challenges,
// which only verify sends.
func (e *endpoint) unread() []event {
	e.webhooks.mu.Lock()
	defer e.webhooks.mu.Unlock()
	log := &e.webhooks.events
	e.next = max(e.next, log.gone)
	var fresh []event
	for _, ev := range log.since(e.next) {
		if e.due.len()+len(fresh) >= mostPlanned {
			break
		}
		e.next++
		if ev.kind != api.VerificationChallenge {
			fresh = append(fresh, ev)
		}
	}
	return fresh
}

// lostUnread counts the events that were let go before the endpoint had planned them. A challenge was for one
// endpoint, which only verify sends it to.
func (e *endpoint) lostUnread(gone []event) {
	lost := uint64(0)
	for _, ev := range gone {
		if ev.kind != api.VerificationChallenge {
			lost++
		}
	}
	e.note(func(s *EndpointSummary) { s.Lost += lost })
}

// plan decides when an event is delivered, how often, and what goes wrong.
func (e *endpoint) plan(ev event, now time.Time) {
	f := e.webhooks.cfg.Faults
	if e.dice.chance(f.Lose) || ev.fault.Do == lose {
		e.note(func(s *EndpointSummary) { s.Lost++ })
		e.lose(ev)
		return
	}
	at := now.Add(f.Delay)
	if e.dice.chance(f.Reorder) {
		at = at.Add(time.Duration(e.dice.between(500, 3000)) * time.Millisecond)
	}
	if ev.fault.Do == late || ev.fault.Do == reorder {
		at = at.Add(ev.fault.wait())
	}
	e.planned++
	e.due.plan(at, delivery{event: ev, number: e.planned, forged: e.dice.chance(f.BadSignature)})
	if ev.fault.Do == double {
		e.planned++
		e.due.plan(at, delivery{event: ev, number: e.planned})
	}
	if e.dice.chance(f.Duplicate) {
		e.planned++
		e.due.plan(at.Add(time.Duration(e.dice.between(0, 1500))*time.Millisecond), delivery{event: ev, number: e.planned})
	}
}

// release sends the deliveries that a fault held back until a later event was taken.
func (e *endpoint) release(taken delivery) {
	e.due.hurry(time.Now(), func(d delivery) bool {
		return d.event.fault.Do == reorder && d.attempt == 0 && d.number < taken.number
	})
}

// note changes the endpoint's summary.
func (e *endpoint) note(change func(*EndpointSummary)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.summary)
}

func (e *endpoint) failed(err error) {
	e.note(func(s *EndpointSummary) { s.Failures, s.LastError = s.Failures+1, err.Error() })
}

func (e *endpoint) summed() EndpointSummary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.summary
}
