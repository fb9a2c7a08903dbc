package quota

import (
	"math"
	"slices"
	"time"
)

// mostSpent bounds the counts of a recalled sample, which anyone may have written.
const mostSpent = math.MaxInt32

// Recall restores buckets of an earlier process for display. They bound nothing until an answer names them,
// because limits may have changed. It ignores implausible buckets, known ones, and those whose limit was changed.
func (p *Pacer) Recall(buckets []Bucket, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range buckets {
		b := &buckets[i]
		superseded := slices.ContainsFunc(buckets, func(o Bucket) bool {
			return o.Class == b.Class && o.Policy == b.Policy && o.Window == b.Window && o.ObservedAt.After(b.ObservedAt)
		})
		if superseded || !b.sensible(now) {
			continue
		}
		book := p.queue(b.Class).book
		if len(book.ledgers) < mostBuckets && !slices.ContainsFunc(book.ledgers, b.isOf) {
			book.add(b.recalled(now))
		}
	}
}

func (b *Bucket) sensible(now time.Time) bool {
	return slices.Contains(Classes(), b.Class) && b.Limit >= 0 && b.Window >= 0 && b.Window <= maxWindow && b.Remaining >= 0 && b.Reset >= 0 && b.Reset <= maxReset &&
		len(b.Policy) <= maxPolicyName && printable(b.Policy) == b.Policy && !b.ObservedAt.After(now)
}

func (b *Bucket) isOf(l *ledger) bool {
	return l.policy == b.Policy && l.limit.requests == b.Limit && l.limit.window == b.Window
}

// recalled returns the ledger of a bucket of an earlier process.
func (b *Bucket) recalled(now time.Time) *ledger {
	l := newLedger(b.Class, b.Policy, b.Limit, b.Window, time.Time{})
	l.remembered, l.seen = true, b.ObservedAt
	if !b.Unreported {
		l.known, l.received, l.sent = true, b.ObservedAt, b.ObservedAt
		l.limit.remaining, l.reset, l.resetKnown = b.Remaining, b.Reset, b.Reset > 0
		l.limit.until = b.ObservedAt.Add(l.lasts(Report{Reset: l.reset, ResetKnown: l.resetKnown}))
	}
	l.minute.recall(b.History, now)
	l.hour.recall(b.Hour, now)
	l.days.recall(b.Day, now)
	return l
}

// recall fills the ring with samples that are not too old.
func (r *ring) recall(samples []Sample, now time.Time) {
	last := r.number(now)
	for _, s := range samples {
		n := r.number(s.At)
		if n > last || n <= last-int64(len(r.spans)) || s.Remaining < 0 ||
			min(s.Own, s.Others, s.Rejected, s.Rest) < 0 || max(s.Own, s.Others, s.Rejected, s.Rest) > mostSpent {
			continue
		}
		*r.at(s.At) = span{
			number: n, known: s.Known, remaining: s.Remaining, own: s.Own, rejected: s.Rejected,
			inferred: s.Others, observed: max(s.Others-s.Rest, 0), unseen: float64(s.Rest),
		}
	}
}
