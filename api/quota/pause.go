package quota

import "time"

// Bounds of the pause after a refusal by a per-second bucket (contract, Limits:
// exponential backoff and jitter, 1 to 2 seconds first).
const (
	firstPause = time.Second
	widest     = 30 * time.Second
)

// pause holds a class back after refusals. Once it has passed, one request at a
// time goes out until one is let through.
type pause struct {
	until   time.Time
	strikes int   // refusals in a row, those of one burst counted once
	after   int64 // requests up to this number belong to the last strike
	probes  int   // requests in flight that were let out since
}

func (p *pause) opening() (at time.Time, never bool) {
	return p.until, p.strikes > 0 && p.probes > 0
}

func (p *pause) begin(w *waiter) {
	if p.strikes > 0 {
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

func (p *pause) answered(w *waiter, a answer, l *lane) {
	p.settle(w)
	switch {
	case a.refused():
		fresh := w.number > p.after
		if fresh {
			p.strikes++
			p.after = l.started
		}
		asked, ok := RetryAfter(a.outcome.Header, a.received)
		switch {
		case ok && asked > 0: // 0 is what is left of a fraction of a second
			p.hold(a.received.Add(min(asked, longestPause)))
		case fresh:
			p.hold(a.received.Add(p.backoff(l.pacer.jitter())))
		}
	case a.outcome.Status != 0 && w.number > p.after:
		p.strikes = 0
	}
}

func (p *pause) hold(until time.Time) {
	if until.After(p.until) {
		p.until = until
	}
}

// backoff doubles with each strike; jitter, in [0, 1), adds up to as much again.
func (p *pause) backoff(jitter float64) time.Duration {
	base := firstPause << min(p.strikes-1, 5)
	return min(base+time.Duration(jitter*float64(base)), widest)
}
