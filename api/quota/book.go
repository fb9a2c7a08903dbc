package quota

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// mostBuckets bounds the buckets of one class.
const mostBuckets = 16

// book keeps the buckets of one class.
type book struct {
	class    Class
	ledgers  []*ledger
	fallback limit // the contract's default, until a bucket of that kind is seen
}

func newBook(class Class) *book {
	return &book{class: class, fallback: limit{requests: class.DefaultLimit(), window: time.Second}}
}

// buckets returns the buckets to be shown. Requests wait for the one of holds until next.
func (b *book) buckets(now time.Time, holds *limit, next time.Time) []Bucket {
	var all []Bucket
	for _, l := range b.ledgers {
		if l.superseded {
			continue
		}
		shown := l.bucket(now)
		if &l.limit == holds {
			shown.Next = next
		}
		all = append(all, shown)
	}
	return all
}

// limits returns what bounds the class at now.
func (b *book) limits(now time.Time) []*limit {
	all := make([]*limit, 0, len(b.ledgers)+1)
	perSecond := false
	var named time.Time
	for _, l := range b.ledgers {
		named = later(named, l.seen)
	}
	for _, l := range b.ledgers {
		if l.superseded || l.remembered || l.leftOut(named, now) {
			continue
		}
		all = append(all, &l.limit)
		perSecond = perSecond || l.limit.perSecond()
	}
	if !perSecond {
		all = append(all, &b.fallback)
	}
	return all
}

// record takes in an answer.
func (b *book) record(a answer, q *queue) {
	reported := b.match(a.fields.Reports, a.sent)
	rejecting := rejectors(reported, a.outcome.Status)
	for _, bucket := range b.ledgers {
		r, ok := reported[bucket]
		switch {
		case ok:
			bucket.charge(a)
			bucket.account(r, a.sent, a.received, a.outcome.Status)
			bucket.report(r, a, q)
		case len(reported) == 0 && bucket.limit.short():
			bucket.account(r, a.sent, a.received, a.outcome.Status)
			bucket.charge(a) // no answer, or one without fields: the bucket may have been charged
		}
		if rejecting[bucket] || len(reported) == 0 && a.refused() && bucket.limit.perSecond() {
			bucket.refuse(a.received)
		}
	}
	b.supersede(reported, a.received)
}

// match finds the buckets of reports.
func (b *book) match(reports []Report, sent time.Time) map[*ledger]Report {
	reported := map[*ledger]Report{}
	for _, r := range reports {
		bucket := b.find(r, sent)
		if before, ok := reported[bucket]; ok && before.RemainingKnown && (!r.RemainingKnown || r.Remaining >= before.Remaining) {
			continue // of duplicates, the smallest counts
		}
		reported[bucket] = r
	}
	return reported
}

// rejectors returns the buckets that a 429 reports as empty; if it reports none as empty, all that it names.
func rejectors(reported map[*ledger]Report, status int) map[*ledger]bool {
	if status != http.StatusTooManyRequests {
		return nil
	}
	empty, named := map[*ledger]bool{}, map[*ledger]bool{}
	for bucket, r := range reported {
		named[bucket] = true
		if r.RemainingKnown && r.Remaining == 0 {
			empty[bucket] = true
		}
	}
	if len(empty) > 0 {
		return empty
	}
	return named
}

// find returns the bucket of a report. A limit without its policy belongs to the bucket of that name with the
// smallest window that its reset fits; the policy may become known later.
func (b *book) find(r Report, sent time.Time) *ledger {
	var found *ledger
	for _, l := range b.ledgers {
		if l.policy != r.Policy {
			continue
		}
		if r.PolicyKnown && l.limit.requests == r.Limit && l.limit.window == r.Window {
			return l
		}
		if r.PolicyKnown && l.limit.requests == 0 && l.limit.window == 0 {
			l.limit.requests, l.limit.window = r.Limit, r.Window
			return l
		}
		if !r.PolicyKnown && !l.superseded && (l.limit.requests == 0 || r.Reset <= l.limit.window) &&
			(found == nil || l.limit.window > 0 && (found.limit.window == 0 || l.limit.window < found.limit.window)) {
			found = l
		}
	}
	if found != nil {
		return found
	}
	return b.open(r, sent)
}

func (b *book) open(r Report, sent time.Time) *ledger {
	l := newLedger(b.class, strings.Clone(r.Policy), r.Limit, r.Window, sent)
	b.add(l)
	return l
}

// add adds a ledger. If there are too many, it replaces the one that was named least recently.
func (b *book) add(l *ledger) {
	if len(b.ledgers) >= mostBuckets {
		oldest := slices.MinFunc(b.ledgers, func(a, b *ledger) int { return a.seen.Compare(b.seen) })
		b.ledgers = slices.DeleteFunc(b.ledgers, func(l *ledger) bool { return l == oldest })
	}
	b.ledgers = append(b.ledgers, l)
}

// supersede retires buckets whose policy is now reported with another limit, by an answer of that time. An older
// answer does not retire what has been named since.
func (b *book) supersede(reported map[*ledger]Report, at time.Time) {
	rivals := func(l, other *ledger) bool {
		return l != other && l.policy == other.policy && l.limit.window == other.limit.window
	}
	for _, l := range b.ledgers {
		_, named := reported[l]
		newer := slices.ContainsFunc(b.ledgers, func(other *ledger) bool { return rivals(l, other) && other.seen.After(at) })
		if named && !newer {
			l.superseded, l.remembered = false, false
		}
		for other, r := range reported {
			if !named && r.PolicyKnown && rivals(l, other) && !l.seen.After(at) {
				l.superseded = true
			}
		}
		l.superseded = l.superseded || named && newer
	}
}
