package simulator

import (
	"context"
	"net/http"
	"sync"
	"time"

	"tillwatch/api"
)

const senders = 8 // deliveries to one endpoint at the same time

// endpoint is a registered webhook URL. It reads the event log at its own pace:
// first the challenge, then what had happened before it was verified, one by
// one in order, then what happens, as it happens.
type endpoint struct {
	sim        *Simulator
	id         string
	url        string
	client     *http.Client
	next       int // index of the next event to plan; only its own goroutine moves it
	woken      chan struct{}
	due        schedule[delivery]
	planned    uint64 // deliveries
	dice       dice
	origin     event // the challenge
	complaints complaints

	mu        sync.Mutex
	verified  bool
	stop      context.CancelFunc
	closed    bool
	delivered uint64
	failures  uint64
	givenUp   uint64
	lost      uint64
	lastError string
}

// EndpointSummary is a webhook endpoint at one moment.
type EndpointSummary struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Verified  bool   `json:"verified"`
	Delivered uint64 `json:"delivered"` // deliveries answered with 200
	Failures  uint64 `json:"failures"`  // attempts that were not
	GivenUp   uint64 `json:"givenUp"`   // events after their last attempt
	Lost      uint64 `json:"lost"`      // events that were never sent, by a fault
	LastError string `json:"lastError,omitempty"`
}

// delivery is an event on its way to an endpoint.
type delivery struct {
	event   event
	number  uint64 // of the endpoint's deliveries, from 1
	attempt int
	forged  bool // this attempt carries a wrong signature
}

// outcome of an attempt: the next one, if there is to be one, and what is to be
// told.
type outcome struct {
	again   delivery
	retry   bool
	at      time.Time // of the next
	trouble *trouble
}

// newEndpoint makes an endpoint that delivers the events from index first on.
func (s *Simulator) newEndpoint(url string, first int, now time.Time) *endpoint {
	d := s.dice(diceEndpoint, uint64(len(s.endpoints))<<32|uint64(s.events.len()))
	e := &endpoint{sim: s, id: d.id("we_"), url: url, next: first, dice: d, woken: make(chan struct{}, 1), complaints: newComplaints(s.log)}
	e.client = &http.Client{
		Transport:     s.cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if e.client.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.Proxy = nil
		t.MaxIdleConnsPerHost = senders
		e.client.Transport = t
	}
	e.origin = event{kind: api.VerificationChallenge, source: e.id, suffix: "verification_challenge", at: now.UnixMilli()}
	s.events.add(e.origin)
	return e
}

// register saves a webhook URL, as the account console does. With history, all
// events since the start follow, else only those to come. A URL that is saved
// already is verified anew and goes on where it stood; attempts that were still
// to be repeated end. The caller holds the lock.
func (s *Simulator) register(url string, history bool, now time.Time) *endpoint {
	first := s.events.len()
	kept := s.endpoints[:0:0]
	for _, e := range s.endpoints {
		if e.url != url {
			kept = append(kept, e)
			continue
		}
		first = min(first, e.next)
		e.close()
	}
	if history {
		first = 0
	}
	e := s.newEndpoint(url, first, now)
	s.endpoints = append(kept, e)
	if s.running != nil {
		s.spawn("webhook endpoint", e.run)
	}
	return e
}

func (e *endpoint) wake() {
	select {
	case e.woken <- struct{}{}:
	default:
	}
}

func (e *endpoint) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.stop != nil {
		e.stop()
	}
}

// run verifies the endpoint and delivers until ctx ends.
func (e *endpoint) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.mu.Lock()
	e.stop = cancel
	if e.closed {
		cancel()
	}
	e.mu.Unlock()
	var sending sync.WaitGroup
	defer e.client.CloseIdleConnections()
	defer e.complaints.last()
	defer sending.Wait()
	if !e.verify(ctx, e.origin) {
		return
	}
	e.mu.Lock()
	e.verified = true
	e.mu.Unlock()
	e.complaints.last()
	e.sim.log.Info("webhook endpoint verified", e.about()...)
	e.deliverBacklog(ctx)
	e.deliverLive(ctx, &sending)
}

// deliverBacklog delivers one after the other what happened before the endpoint
// was verified. What fails is tried again later, beside the live events.
func (e *endpoint) deliverBacklog(ctx context.Context) {
	for ctx.Err() == nil {
		batch := e.unread()
		if len(batch) == 0 {
			return
		}
		for _, ev := range batch {
			e.plan(ev, time.Now())
		}
		for e.due.len() > 0 && ctx.Err() == nil && e.due.next().what.attempt == 0 {
			if time.Until(e.due.next().at) > 0 {
				break // held back by a fault
			}
			e.settle(e.attempt(ctx, e.due.pop().what))
		}
	}
}

// deliverLive delivers events as they happen, several at a time.
func (e *endpoint) deliverLive(ctx context.Context, sending *sync.WaitGroup) {
	ended := make(chan outcome, senders) // room for all: a sender never waits
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	inFlight := 0
	for {
		now := time.Now()
		for _, ev := range e.unread() {
			e.plan(ev, now)
		}
		for inFlight < senders && e.due.len() > 0 && !e.due.next().at.After(now) {
			d := e.due.pop().what
			inFlight++
			sending.Go(func() {
				defer e.sim.reportPanic("webhook delivery")
				ended <- e.attempt(ctx, d)
			})
		}
		e.complaints.tell(now)
		pause := e.complaints.wait(now)
		if e.due.len() > 0 && inFlight < senders {
			pause = min(pause, max(0, time.Until(e.due.next().at)))
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-e.woken:
		case <-timer.C:
		case o := <-ended:
			inFlight--
			e.settle(o)
		}
	}
}

// settle plans the next attempt and tells what went wrong.
func (e *endpoint) settle(o outcome) {
	if o.retry {
		e.due.plan(o.at, o.again)
	}
	if o.trouble != nil {
		e.complaints.add(*o.trouble, time.Now())
	}
}

// unread takes the events that the endpoint has not planned yet; challenges are
// sent by verify alone.
func (e *endpoint) unread() []event {
	e.sim.mu.Lock()
	defer e.sim.mu.Unlock()
	var fresh []event
	for ; e.next < len(e.sim.events.events); e.next++ {
		if ev := e.sim.events.events[e.next]; ev.kind != api.VerificationChallenge {
			fresh = append(fresh, ev)
		}
	}
	return fresh
}

// plan decides when an event is delivered, how often, and what goes wrong.
func (e *endpoint) plan(ev event, now time.Time) {
	f := e.sim.cfg.Faults
	if e.dice.chance(f.Lose) {
		e.mu.Lock()
		e.lost++
		e.mu.Unlock()
		return
	}
	at := now.Add(f.Delay)
	if e.dice.chance(f.Reorder) {
		at = at.Add(time.Duration(e.dice.between(500, 3000)) * time.Millisecond)
	}
	e.planned++
	e.due.plan(at, delivery{event: ev, number: e.planned, forged: e.dice.chance(f.BadSignature)})
	if e.dice.chance(f.Duplicate) {
		e.planned++
		e.due.plan(at.Add(time.Duration(e.dice.between(0, 1500))*time.Millisecond), delivery{event: ev, number: e.planned})
	}
}

func (e *endpoint) failed(err *deliveryError) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failures++
	e.lastError = err.Error()
}

func (e *endpoint) summary() EndpointSummary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return EndpointSummary{e.id, e.url, e.verified, e.delivered, e.failures, e.givenUp, e.lost, e.lastError}
}
