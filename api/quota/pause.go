package quota

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// growingPause is the pause after refusals by a per-second bucket: exponential backoff with jitter (contract,
// Limits), from 1 to 2 s up to 15 to 30 s.
func growingPause() backoff.ExponentialBackOff {
	return backoff.ExponentialBackOff{
		InitialInterval: 1500 * time.Millisecond, Multiplier: 2, MaxInterval: 22500 * time.Millisecond, RandomizationFactor: 1.0 / 3,
	}
}

// pause holds a class back after refusals. Then one request at a time goes out until one succeeds.
type pause struct {
	until   time.Time
	refused bool  // no request has succeeded since
	after   int64 // requests up to this number belong to the last refused burst
	probes  int   // requests in flight sent since
	growing backoff.ExponentialBackOff
}

func (p *pause) opening() (at time.Time, never bool) {
	return p.until, p.refused && p.probes > 0
}

func (p *pause) begin(w *waiter) {
	if p.refused {
		w.probe = true
		p.probes++
	}
}

func (p *pause) settle(w *waiter) {
	if w.probe {
		w.probe = false
		p.probes--
	}
}

func (p *pause) answered(w *waiter, a answer, q *queue) {
	p.settle(w)
	switch {
	case a.refused():
		fresh := w.number > p.after
		if fresh {
			p.refused = true
			p.after = q.started
		}
		asked, ok := RetryAfter(a.outcome.Header, a.received)
		switch {
		case ok && asked > 0: // 0 may be a rounded fraction of a second
			p.hold(a.received.Add(min(asked, longestPause)))
		case fresh:
			p.hold(a.received.Add(p.growing.NextBackOff()))
		}
	case a.outcome.Status != 0 && w.number > p.after:
		p.refused = false
		p.growing.Reset()
	}
}

func (p *pause) hold(until time.Time) {
	if until.After(p.until) {
		p.until = until
	}
}
