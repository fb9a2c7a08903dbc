package quota

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Outcome is what came of a permitted request.
type Outcome struct {
	Status    int // 0 when no answer came
	Header    http.Header
	Sent      time.Time // when it went out; zero means when it was permitted
	Received  time.Time // when it ended; zero means when Done was called
	PerSecond bool      // with Status 429: its words say that a per-second bucket refused it, so that the class pauses
}

// Permit allows one request. Done must be called exactly once; until then the
// request counts as spent.
type Permit struct{ done func(Outcome) }

// Done books the request and what its answer said of the quota. A second call
// does nothing.
func (p Permit) Done(o Outcome) {
	if p.done != nil {
		p.done(o)
	}
}

// Pacer lets requests out at the pace that the account's quota allows. It is
// safe for concurrent use and owns no goroutine: waiters are woken by the end of
// other requests and by one timer a class.
//
// How the service aligns its windows is not known, so a request is taken to
// occupy its bucket from when it is permitted until one whole window after its
// answer: that holds for fixed and sliding windows alike.
type Pacer struct {
	cfg PacerConfig

	mu    sync.Mutex
	lanes map[Class]*lane
}

// PacerConfig bounds what this client may spend.
type PacerConfig struct {
	Share   float64 // share of a bucket that requests below Person may spend; 0 means 0.3, above 1 means 1
	Reserve int64   // remaining requests at which they stop; 0 means 2, below 0 means none
}

// NewPacer makes a pacer that keeps its books itself.
func NewPacer(cfg PacerConfig) *Pacer {
	switch {
	case !(cfg.Share > 0):
		cfg.Share = 0.3
	case cfg.Share > 1:
		cfg.Share = 1
	}
	switch {
	case cfg.Reserve == 0:
		cfg.Reserve = 2
	case cfg.Reserve < 0:
		cfg.Reserve = 0
	}
	return &Pacer{cfg: cfg, lanes: map[Class]*lane{}}
}

// Acquire waits until a request of class may go out, in the order of the
// priorities, or until ctx ends. Its error is then that of ctx.
func (p *Pacer) Acquire(ctx context.Context, class Class) (Permit, error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	w := &waiter{priority: PriorityOf(ctx).clamped(), ready: make(chan struct{})}
	p.mu.Lock()
	l := p.lane(class)
	l.enqueue(w, time.Now())
	p.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.withdraw(l, w)
		return Permit{}, ctx.Err()
	}
	return Permit{done: func(o Outcome) { p.finish(l, w, o) }}, nil
}

// Buckets is what is known of every bucket seen, in a stable order: by class,
// window, policy and limit. A bucket that no answer has named is not there.
func (p *Pacer) Buckets(now time.Time) []Bucket {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Bucket
	for _, l := range p.lanes {
		all = append(all, l.book.buckets(now)...)
	}
	slices.SortFunc(all, compareBuckets)
	return all
}

func (p *Pacer) lane(class Class) *lane {
	l := p.lanes[class]
	if l == nil {
		l = newLane(p, class)
		p.lanes[class] = l
	}
	return l
}

// withdraw gives up waiting, or gives back a permit that came at the same time.
func (p *Pacer) withdraw(l *lane, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.withdraw(w, time.Now())
}

func (p *Pacer) finish(l *lane, w *waiter, o Outcome) {
	fields := ParseFields(o.Header)
	p.mu.Lock()
	defer p.mu.Unlock()
	l.finish(w, o, fields, time.Now())
}
