package quota

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Outcome is how a permitted request ended.
type Outcome struct {
	Status    int // 0 when no answer came
	Header    http.Header
	Sent      time.Time // when it went out; zero means when it was permitted
	Received  time.Time // when it ended; zero means when Done was called
	PerSecond bool      // with Status 429: the message says that a per-second bucket refused it, so the class pauses
}

// Permit allows one request. Done must be called exactly once; until then the
// request counts as spent.
type Permit struct{ done func(Outcome) }

// Done ends the request and passes on what its answer reported of the quota. A second call does nothing.
func (p Permit) Done(o Outcome) {
	if p.done != nil {
		p.done(o)
	}
}

// Pacer lets requests out at the pace that the account's quota allows. It is safe for concurrent use and owns no
// goroutine: the end of other requests and one timer per class wake the waiters.
//
// How the service aligns its windows is unknown, so a request counts in its bucket from its permit until one
// window after its answer: that is right for fixed and sliding windows.
type Pacer struct {
	cfg PacerConfig

	mu     sync.Mutex
	queues map[Class]*queue
}

// PacerConfig bounds what this client may spend.
type PacerConfig struct {
	Share   float64 // share of a bucket that requests below Person may spend; 0 means 0.3, above 1 means 1
	Reserve int64   // remaining requests at which they stop, and at 1 % of a long window; 0 means 2, below 0 means none
}

// NewPacer returns a pacer without known buckets.
func NewPacer(cfg PacerConfig) *Pacer {
	switch {
	case !(cfg.Share > 0):
		cfg.Share = 0.3
	case cfg.Share > 1:
		cfg.Share = 1
	}
	switch {
	case cfg.Reserve == 0:
		cfg.Reserve = defaultReserve
	case cfg.Reserve < 0:
		cfg.Reserve = 0
	}
	return &Pacer{cfg: cfg, queues: map[Class]*queue{}}
}

// Acquire waits until a request of class may go out, by priority. It returns ctx's error if ctx ends first.
func (p *Pacer) Acquire(ctx context.Context, class Class) (Permit, error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	w := &waiter{priority: PriorityOf(ctx).clamped(), ready: make(chan struct{})}
	p.mu.Lock()
	q := p.queue(class)
	q.enqueue(w, time.Now())
	p.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.withdraw(q, w)
		return Permit{}, ctx.Err()
	}
	return Permit{done: func(o Outcome) { p.finish(q, w, o) }}, nil
}

// Buckets returns every bucket that an answer has named, sorted by class, window, policy and limit.
func (p *Pacer) Buckets(now time.Time) []Bucket {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Bucket
	for _, q := range p.queues {
		holds, until := q.waits(now)
		all = append(all, q.book.buckets(now, holds, until)...)
	}
	slices.SortFunc(all, compareBuckets)
	return all
}

func (p *Pacer) queue(class Class) *queue {
	q := p.queues[class]
	if q == nil {
		q = newQueue(p, class)
		p.queues[class] = q
	}
	return q
}

// withdraw gives up waiting, or returns a permit that came at the same time.
func (p *Pacer) withdraw(q *queue, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.withdraw(w, time.Now())
}

func (p *Pacer) finish(q *queue, w *waiter, o Outcome) {
	fields := ParseFields(o.Header)
	p.mu.Lock()
	defer p.mu.Unlock()
	q.finish(w, o, fields, time.Now())
}
