package simulator

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

const (
	workers        = 8          // deliveries at the same time
	mostQueued     = keptEvents // deliveries that wait; further ones are lost
	keptDeliveries = 1000       // in the log of deliveries
)

// webhooks delivers events to the registered endpoints, by workers on one queue.
type webhooks struct {
	cfg    *Config
	client *http.Client
	logger *slog.Logger // while workers run
	sent   sentLog

	mu        *sync.Mutex // the simulator's; guards all below
	events    eventLog
	endpoints []*endpoint
	queue     schedule[*delivery]
	bell      // rings when the queue has more
	faults    *faultPlan
}

// endpoint is a registered webhook URL. It gets its challenge first, and events once it has answered that.
type endpoint struct {
	EndpointSummary
	challenge event
	next      int // number of the first event that it is to get once it is verified
	dice      dice
	planned   uint64 // number of deliveries so far
	gone      bool   // its URL was registered again
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

// delivery is an event on its way to an endpoint. Its worker owns it; in the queue nobody does.
type delivery struct {
	deliveries.Delivery
	to     *endpoint
	event  event
	number uint64 // among the endpoint's deliveries, from 1
	forged bool   // the next attempt carries a wrong signature or none
}

func newWebhooks(cfg *Config, mu *sync.Mutex, faults *faultPlan) webhooks {
	transport := cfg.Transport
	if transport == nil {
		transport = &http.Transport{MaxIdleConnsPerHost: workers}
	}
	refuseRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return webhooks{
		cfg: cfg, mu: mu, faults: faults, bell: make(bell, 1), logger: cfg.Logger,
		client: &http.Client{Transport: transport, CheckRedirect: refuseRedirects},
		events: newEventLog(),
	}
}

// emit records an event and plans its deliveries.
func (w *webhooks) emit(at time.Time, kind api.EventType, source, suffix string, data any) event {
	e := event{kind: kind, source: source, suffix: suffix, at: at.UnixMilli()}
	if data != nil {
		e.data = encode(data)
	}
	if w.events.has(e) {
		return e
	}
	w.events.add(e)
	fault := w.faults.ofEvent(e)
	for _, to := range w.endpoints {
		if to.Verified {
			w.plan(to, e, fault)
		}
	}
	return e
}

// plan decides when an event is delivered, how often, and what goes wrong.
func (w *webhooks) plan(to *endpoint, ev event, ordered fault) {
	f := w.cfg.Faults
	if to.dice.chance(f.Lose) || ordered.Drop || w.queue.len() >= mostQueued {
		d := w.deliveryOf(to, ev)
		d.State = deliveries.Lost
		to.Lost++
		w.sent.put(d.Delivery)
		return
	}
	at := time.Now().Add(f.Delay + seconds(ordered.LateBy))
	if to.dice.chance(f.Reorder) {
		at = at.Add(time.Duration(to.dice.between(500, 3000)) * time.Millisecond)
	}
	first := w.deliveryOf(to, ev)
	first.forged = to.dice.chance(f.BadSignature)
	w.enqueue(at, first)
	if ordered.Twice {
		w.enqueue(at, w.deliveryOf(to, ev))
	}
	if to.dice.chance(f.Duplicate) {
		w.enqueue(at.Add(time.Duration(to.dice.between(0, 1500))*time.Millisecond), w.deliveryOf(to, ev))
	}
}

// deliveryOf makes a delivery before its first attempt.
func (w *webhooks) deliveryOf(to *endpoint, ev event) *delivery {
	to.planned++
	id := to.ID + "-d" + strconv.FormatUint(to.planned, 10)
	return &delivery{to: to, event: ev, number: to.planned, Delivery: deliveries.Delivery{
		ID: api.ScrubID(id), Target: api.MaskAddress(api.Scrub(to.URL)), Since: time.Now(),
		Event: api.ScrubID(ev.id()), Type: ev.kind, Source: api.ScrubID(ev.source),
	}}
}

func (w *webhooks) enqueue(at time.Time, d *delivery) {
	if w.queue.plan(at, d) {
		w.wake()
	}
}

// register saves a webhook URL, as the account console does. With history it gets all events since the start,
// otherwise only new ones. A registered URL is verified again, under another id, and continues after its last planned
// event; what was planned for it is not sent. The caller holds the lock.
func (w *webhooks) register(url string, history bool, now time.Time) *endpoint {
	first := w.events.made()
	w.endpoints = slices.DeleteFunc(w.endpoints, func(e *endpoint) bool {
		if e.gone = e.URL == url; e.gone && !e.Verified {
			first = min(first, e.next)
		}
		return e.gone
	})
	if history {
		first = w.events.gone
	}
	d := newDice(w.cfg.Seed, diceEndpoint, uint64(len(w.endpoints))<<32|uint64(w.events.made()))
	e := &endpoint{EndpointSummary: EndpointSummary{ID: d.id("we_"), URL: url}, next: first, dice: d}
	e.challenge = event{
		kind: api.VerificationChallenge, source: e.ID, suffix: "verification_challenge", at: now.UnixMilli(),
	}
	w.events.add(e.challenge)
	w.endpoints = append(w.endpoints, e)
	w.enqueue(time.Now(), w.deliveryOf(e, e.challenge))
	return e
}

// verified plans the events from before an endpoint answered its challenge.
func (w *webhooks) verified(e *endpoint) {
	e.Verified = true
	e.Lost += uint64(max(0, w.events.gone-e.next))
	for _, ev := range w.events.since(e.next) {
		if ev.kind != api.VerificationChallenge {
			w.plan(e, ev, fault{})
		}
	}
}

// work delivers what is due until ctx ends.
func (w *webhooks) work(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		d, wait := w.take()
		if d != nil {
			w.attempt(ctx, d)
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-w.bell:
		case <-timer.C:
		}
	}
}

// take takes a due delivery out of the queue, and wakes another worker for the next one. If none is due, it returns
// how long to wait.
func (w *webhooks) take() (*delivery, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.queue.len() > 0 {
		if wait := time.Until(w.queue.next().at); wait > 0 {
			return nil, wait
		}
		d := w.queue.pop().what
		if !d.to.gone {
			w.wake()
			return d, 0
		}
		if d.Attempts > 0 {
			d.State, d.Error, d.Next = deliveries.Dead, "the endpoint was registered again", time.Time{}
			w.sent.put(d.Delivery)
		}
	}
	return nil, time.Hour
}

// settle counts the outcome of an attempt, and plans the next one if there is one. It does not count an attempt that
// ctx ended.
func (w *webhooks) settle(ctx context.Context, d *delivery, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	challenges := d.Type == api.VerificationChallenge
	defer func() { w.sent.put(d.Delivery) }()
	switch {
	case err == nil:
		d.State = deliveries.Delivered
		if challenges {
			w.verified(d.to)
		} else {
			d.to.Delivered++
		}
		return
	case ctx.Err() != nil:
		d.State, d.Error = deliveries.Dead, "the stand-in ended"
		return
	}
	d.State, d.Error = deliveries.Waiting, api.Scrub(err.Error())
	d.to.Failures, d.to.LastError = d.to.Failures+1, err.Error()
	var pause time.Duration
	switch {
	case challenges:
		pause = min(100*time.Millisecond<<min(d.Attempts-1, 10), 2*time.Second)
	case d.Attempts > w.cfg.Retries:
		d.State = deliveries.Dead
		d.to.GivenUp++
		return
	default:
		pause = RetryPauses()[d.Attempts-1]
	}
	d.forged, d.Next = false, time.Now().Add(pause)
	w.enqueue(d.Next, d)
}

// sentLog keeps the deliveries that changed last, as they were then.
type sentLog struct {
	mu  sync.Mutex
	all []deliveries.Delivery // the latest change last
}

// put stores a delivery in place of its earlier form. The caller must not change its header and bodies afterwards.
func (l *sentLog) put(d deliveries.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(old deliveries.Delivery) bool { return old.ID == d.ID })
	l.all = append(l.all, d)
	if len(l.all) > keptDeliveries {
		l.all = slices.Delete(l.all, 0, 1)
	}
}

// newest lists the deliveries of an event, "" for any, the latest change first, at most so many.
func (l *sentLog) newest(event string, most int) []deliveries.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	listed := []deliveries.Delivery{}
	for _, d := range slices.Backward(l.all) {
		if (event == "" || event == string(d.Event)) && len(listed) < most {
			listed = append(listed, d)
		}
	}
	return listed
}
