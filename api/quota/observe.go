package quota

import (
	"slices"
	"time"
)

// Observe takes in a request that another client sent. Requests of one bucket may come late and in any order: each
// counts when it was sent, and the newest answer says what is left. Pass each request once.
func (p *Pacer) Observe(o *Observation) {
	if !slices.Contains(Classes(), o.Class) {
		return
	}
	now := time.Now()
	sent := now.Add(o.Sent.Sub(now)) // by the clock that nobody sets
	s := sight{Observation: o, sent: sent, received: sent.Add(max(o.Latency, 0))}
	if late := s.received.Sub(now); late > 0 { // the observer's clock is ahead
		s.sent, s.received = s.sent.Add(-late), now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queue(o.Class)
	q.book.observe(s, q, now)
	q.dispatch(now)
}

// sight is an observation whose times are not in the future.
type sight struct {
	*Observation
	sent, received time.Time
}

// observe takes in another client's request.
func (b *book) observe(s sight, q *queue, now time.Time) {
	reported := b.match(slices.DeleteFunc(slices.Clone(s.Reports), senseless), s.sent)
	rejecting := rejectors(reported, s.Status)
	for _, bucket := range b.ledgers {
		r, ok := reported[bucket]
		if !ok && (len(reported) > 0 || !bucket.limit.short()) {
			continue
		}
		bucket.each(s.sent, func(span *span) { span.observed++ })
		bucket.account(r, s.sent, s.received, s.Status)
		bucket.limit.sighted(s.sent, now)
		if rejecting[bucket] {
			bucket.refuse(s.sent)
		}
		if ok {
			bucket.overhear(r, &s, q)
		}
	}
	b.supersede(reported, s.received)
}

// overhear takes in what an answer to another client reported of the bucket.
func (b *ledger) overhear(r Report, s *sight, q *queue) {
	b.seen = later(b.seen, s.received)
	if !r.RemainingKnown {
		return
	}
	b.each(s.received, func(span *span) { span.report(r.Remaining) })
	if b.known && (s.sent.Before(b.sent) || s.sent.Equal(b.sent) && r.Remaining >= b.limit.remaining) {
		return
	}
	b.known, b.sent, b.received = true, s.sent, s.received
	b.reset, b.resetKnown = r.Reset, r.ResetKnown
	b.limit.remaining = r.Remaining
	b.limit.base = q.started - q.all.since(s.sent) // requests that had ended by then are counted
	b.limit.holds(b.lasts(r), s.received)
}

// senseless reports whether [ParseFields] cannot have made the report.
func senseless(r Report) bool {
	return min(r.Limit, r.Remaining) < 0 || r.Window < 0 || r.Window > maxWindow || r.Reset < 0 || r.Reset > maxReset ||
		len(r.Policy) > maxPolicyName || printable(r.Policy) != r.Policy
}

// sighted counts another client's request in its window.
func (b *limit) sighted(at, now time.Time) {
	if b.window <= 0 || now.Sub(at) > max(othersRemembered, b.window) || !b.short() {
		return
	}
	i, _ := slices.BinarySearchFunc(b.sights, at, time.Time.Compare)
	b.sights = slices.Insert(b.sights, i, at)
	old, _ := slices.BinarySearchFunc(b.sights, now.Add(-max(othersRemembered, b.window)), time.Time.Compare)
	b.sights = slices.Delete(b.sights, 0, max(old, len(b.sights)-mostKept))
	first, _ := slices.BinarySearchFunc(b.sights, at.Add(-b.window), time.Time.Compare)
	last, _ := slices.BinarySearchFunc(b.sights, at, time.Time.Compare)
	count := int64(last - first + 1)
	if count >= b.seen || b.quiet(now) {
		b.seen = count
	}
	b.demand.observed(count, now)
	b.others = later(b.others, at)
}
