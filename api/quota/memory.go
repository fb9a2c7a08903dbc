package quota

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Memory is what is remembered of a bucket beyond the end of a process: what it
// is, what was last reported of it and its history. It holds nothing of the
// account but numbers.
type Memory struct {
	Class      Class         `json:"class"`
	Policy     string        `json:"policy,omitempty"`
	Limit      int64         `json:"limit,omitempty"`
	Window     time.Duration `json:"windowNs,omitzero"`
	Opened     time.Time     `json:"opened,omitzero"`     // when it became known
	Reported   bool          `json:"reported,omitempty"`  // whether the next three are known
	Remaining  int64         `json:"remaining,omitempty"` // as last reported
	Reset      time.Duration `json:"resetNs,omitzero"`    // from ObservedAt; below 0 when not reported
	ObservedAt time.Time     `json:"observedAt,omitzero"`
	Seconds    []Sample      `json:"seconds,omitempty"` // of the last minute, those in which something happened
	Minutes    []Sample      `json:"minutes,omitempty"` // likewise of the last hour
	Hours      []Sample      `json:"hours,omitempty"`   // likewise of the last day
}

// Bounds of what is believed of a memory, which anybody can have written.
const (
	longestPolicy = 256
	mostSpent     = math.MaxInt32
)

// Memories is what the pacer knows of every bucket, for [Pacer.Recall].
func (p *Pacer) Memories(now time.Time) []Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Memory
	for _, l := range p.lanes {
		for _, b := range l.book.ledgers {
			if !b.superseded {
				all = append(all, b.memory(now))
			}
		}
	}
	slices.SortFunc(all, func(a, b Memory) int {
		return cmp.Or(compareClasses(a.Class, b.Class), cmp.Compare(a.Policy, b.Policy),
			cmp.Compare(a.Window, b.Window), cmp.Compare(a.Limit, b.Limit))
	})
	return all
}

// Recall brings buckets of an earlier process back, to be shown. They bound
// nothing before an answer of this process has named them: limits may have
// changed since. What makes no sense is left out, and so is a bucket that is
// known already.
func (p *Pacer) Recall(memories []Memory, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range memories {
		m := &memories[i]
		if !m.sensible(now) {
			continue
		}
		book := p.lane(m.Class).book
		if len(book.ledgers) >= mostBuckets || slices.ContainsFunc(book.ledgers, m.describes) {
			continue
		}
		book.add(m.ledger(now))
	}
}

func (m *Memory) sensible(now time.Time) bool {
	known := m.Class == Reads || m.Class == Mutations || m.Class == Lookup
	if !known || m.Limit < 0 || m.Window < 0 || m.Window > maxWindow || m.Remaining < 0 || m.Reset > maxReset ||
		len(m.Policy) > longestPolicy || m.ObservedAt.After(now) || m.Opened.After(now) {
		return false
	}
	for i := range len(m.Policy) {
		if m.Policy[i] < ' ' || m.Policy[i] > '~' {
			return false
		}
	}
	return true
}

func (m *Memory) describes(l *ledger) bool {
	return l.policy == m.Policy && l.limit.requests == m.Limit && l.limit.window == m.Window
}

func (b *ledger) memory(now time.Time) Memory {
	m := Memory{
		Class: b.class, Policy: b.policy, Limit: b.limit.requests, Window: b.limit.window,
		Opened: b.opened, Reported: b.known,
		Seconds: b.minute.happened(now), Minutes: b.hour.happened(now), Hours: b.days.happened(now),
	}
	if b.known {
		m.Remaining, m.Reset, m.ObservedAt = b.limit.remaining, -1, b.received
		if b.resetKnown {
			m.Reset = b.reset
		}
	}
	return m
}

// ledger is the bucket as it is remembered.
func (m *Memory) ledger(now time.Time) *ledger {
	b := newLedger(m.Class, m.Policy, m.Limit, m.Window, m.Opened)
	b.remembered = true
	if m.Reported {
		b.known, b.received, b.sent, b.seen = true, m.ObservedAt, m.ObservedAt, m.ObservedAt
		b.limit.remaining, b.reset, b.resetKnown = m.Remaining, max(m.Reset, 0), m.Reset >= 0
		b.limit.until = m.ObservedAt.Add(b.lasts(Report{Reset: b.reset, ResetKnown: b.resetKnown}))
	}
	b.minute.recall(m.Seconds, now)
	b.hour.recall(m.Minutes, now)
	b.days.recall(m.Hours, now)
	return b
}

// happened lists the spans up to now in which something happened, oldest first.
func (r *ring) happened(now time.Time) []Sample {
	var list []Sample
	for _, s := range r.samples(now) {
		if s.Known || s.Own != 0 || s.Others != 0 || s.Rejected != 0 {
			list = append(list, s)
		}
	}
	return list
}

// recall fills the ring with what is not too old for it.
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
