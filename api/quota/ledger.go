package quota

import (
	"net/http"
	"time"
)

// ledger keeps one bucket.
type ledger struct {
	class      Class
	policy     string
	limit      limit
	opened     time.Time
	seen       time.Time // when an answer last named it
	superseded bool      // its policy is now reported with another limit
	remembered bool      // recalled, and no answer has named it since
	rejected   int64

	known      bool // whether a remaining quota was ever reported
	sent       time.Time
	received   time.Time
	reset      time.Duration
	resetKnown bool

	charged            int64 // ended requests of this client
	inference          inference
	total              total
	minute, hour, days ring
}

func newLedger(class Class, policy string, requests int64, window time.Duration, opened time.Time) *ledger {
	return &ledger{
		class: class, policy: policy, opened: opened,
		limit:  limit{requests: requests, window: window},
		minute: newRing(time.Second, 60),
		hour:   newRing(time.Minute, 60),
		days:   newRing(time.Hour, 24),
	}
}

// charge counts a request of this client.
func (b *ledger) charge(a answer) {
	b.charged++
	b.each(a.received, func(s *span) { s.own++ })
}

// refuse counts a request that the bucket refused, whoever sent it.
func (b *ledger) refuse(at time.Time) {
	b.rejected++
	b.each(at, func(s *span) { s.rejected++ })
}

// each calls visit with the span of each ring that contains a moment.
func (b *ledger) each(moment time.Time, visit func(*span)) {
	for _, r := range [...]*ring{&b.minute, &b.hour, &b.days} {
		visit(r.at(moment))
	}
}

// report takes in what an answer reported of the bucket. Reports are ordered by when their requests were sent; an
// older one only adds to the history.
func (b *ledger) report(r Report, a answer, q *queue) {
	b.seen = a.received
	if !r.RemainingKnown {
		return
	}
	b.each(a.received, func(s *span) { s.report(r.Remaining) })
	if b.known && (a.sent.Before(b.sent) || a.sent.Equal(b.sent) && r.Remaining > b.limit.remaining) {
		return
	}
	if others := b.infer(r, a, q); others > 0 {
		b.limit.others = a.received
		b.each(a.received, func(s *span) { s.inferred += int(others) })
	}
	b.known, b.sent, b.received = true, a.sent, a.received
	b.reset, b.resetKnown = r.Reset, r.ResetKnown
	b.limit.remaining = r.Remaining
	b.limit.base = a.before + 1
	b.limit.holds(b.lasts(r), a.received)
}

// account counts the unobserved requests that an answer to anyone reveals. For a long window an older answer adds
// nothing to a newer one.
func (b *ledger) account(r Report, sent, ended time.Time, status int) {
	// A request that the limit of the day or of the agents refused is charged here, too.
	refused := status == http.StatusTooManyRequests && (!r.RemainingKnown || r.Remaining == 0)
	switch {
	case b.limit.window > 0 && b.limit.window <= shortest:
		if len(b.total.facts) >= mostFacts { // an hour of observations came at once
			b.total.settle(&b.limit, ended, b.notSeen)
		}
		if r.RemainingKnown && b.total.add(fact{at: sent, ended: ended, remaining: r.Remaining, refused: refused}) {
			return
		}
	case !b.known:
		return
	case r.RemainingKnown && sent.After(b.sent) && r.Remaining < b.limit.remaining && sent.Before(b.limit.until):
		b.notSeen(sent, float64(b.limit.remaining-r.Remaining))
	}
	if !refused {
		b.each(sent, func(s *span) { s.apart++ })
	}
}

func (b *ledger) notSeen(at time.Time, count float64) {
	b.each(at, func(s *span) { s.unseen += count })
}

// leftOut reports whether the answers of an hour, the newest at named, have left a long bucket out: a single one may
// have named it, as from something in front of the service. What a report says still holds until its reset.
func (b *ledger) leftOut(named, now time.Time) bool {
	return !b.limit.short() && named.Sub(b.seen) >= time.Hour && !now.Before(b.limit.until)
}

// lasts returns how long a report holds: until its window has passed, and never longer than a reset may be.
func (b *ledger) lasts(r Report) time.Duration {
	switch {
	case r.ResetKnown:
		return r.Reset
	case b.limit.window > 0:
		return min(b.limit.window, maxReset)
	}
	return time.Second
}

// bucket returns the bucket to be shown.
func (b *ledger) bucket(now time.Time) Bucket {
	b.total.settle(&b.limit, now, b.notSeen)
	shown := Bucket{
		Class: b.class, Policy: b.policy,
		Limit: b.limit.requests, Window: b.limit.window,
		Remaining: b.limit.remaining, Reset: b.reset, ObservedAt: b.received,
		Unreported: !b.known, Rejected: b.rejected,
		History: b.minute.samples(now), Hour: b.hour.samples(now), Day: b.days.samples(now),
	}
	if !b.known {
		shown.ObservedAt = b.seen
	}
	shown.Own, shown.Others = b.minute.rates(60, b.opened, now)
	shown.Exhausted = b.forecast(shown, now)
	return shown
}

const recently = 15 // minutes whose pace forecasts when a long window is used up

// forecast is the time until nothing is left, if the recent pace leads there before the window passes. Windows of
// a second pass too soon to forecast.
func (b *ledger) forecast(shown Bucket, now time.Time) time.Duration {
	left := shown.Left(now)
	if shown.Unreported {
		return 0
	}
	if left <= 0 {
		return 1
	}
	if shown.Window <= shortest {
		return 0
	}
	own, others := shown.Own, shown.Others
	if shown.Window >= recently*time.Minute {
		own, others = b.hour.rates(recently, b.opened, now)
	}
	if own+others <= 0 {
		return 0
	}
	seconds := float64(left) / (own + others)
	if seconds > maxReset.Seconds() {
		return 0
	}
	forecast := max(time.Duration(seconds*float64(time.Second)), 1)
	if b.resetKnown && forecast >= b.reset-now.Sub(b.received) {
		return 0
	}
	return forecast
}
