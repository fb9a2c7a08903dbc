package quota

import (
	"net/http"
	"strings"
	"time"
)

// Bounds of a book.
const (
	mostBuckets = 16          // of one class
	forgetAfter = time.Minute // a bucket whose limit was changed
)

// book keeps what is known of the buckets of one class.
type book struct {
	class    Class
	ledgers  []*ledger
	fallback limit // the contract's default, until a bucket of that kind is seen
	ignored  map[string]IgnoredField
}

func newBook(class Class) *book {
	return &book{
		class:    class,
		fallback: limit{requests: class.defaultLimit(), window: time.Second},
		ignored:  map[string]IgnoredField{},
	}
}

func (b *book) buckets(now time.Time) []Bucket {
	var all []Bucket
	for _, l := range b.ledgers {
		if !l.superseded || now.Sub(l.seen) < forgetAfter {
			all = append(all, l.bucket(now))
		}
	}
	return all
}

// limits is what bounds the class now.
func (b *book) limits() []*limit {
	all := make([]*limit, 0, len(b.ledgers)+1)
	perSecond := false
	for _, l := range b.ledgers {
		if l.superseded || l.remembered {
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

// record books an answer.
func (b *book) record(a answer, l *lane) {
	for _, field := range a.fields.Ignored {
		b.ignored[field.Field] = IgnoredField{Class: b.class, At: a.received, Ignored: field}
	}
	reported := map[*ledger]Report{}
	for _, r := range a.fields.Reports {
		bucket := b.find(r, a)
		if before, ok := reported[bucket]; ok && before.RemainingKnown && (!r.RemainingKnown || r.Remaining >= before.Remaining) {
			continue // of duplicates, the smallest acts
		}
		reported[bucket] = r
	}
	rejecting := rejectors(reported, a)
	for _, bucket := range b.ledgers {
		r, ok := reported[bucket]
		switch {
		case ok:
			bucket.charge(a)
			bucket.report(r, a, l)
		case len(reported) == 0 && bucket.limit.short():
			bucket.charge(a) // an answer without fields, or none: it may have been charged
		}
		if rejecting[bucket] || len(reported) == 0 && a.refused() && bucket.limit.perSecond() {
			bucket.refuse(a)
		}
	}
	b.supersede(reported)
}

// rejectors is the buckets that a 429 names as empty; all that it names, where
// none is.
func rejectors(reported map[*ledger]Report, a answer) map[*ledger]bool {
	if a.outcome.Status != http.StatusTooManyRequests {
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

// find is the bucket of a report. A limit without its policy belongs to the
// bucket of that name with the smallest window that its reset fits; the policy
// may become known later.
func (b *book) find(r Report, a answer) *ledger {
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
	return b.open(r, a)
}

func (b *book) open(r Report, a answer) *ledger {
	l := newLedger(b.class, strings.Clone(r.Policy), r.Limit, r.Window, a.sent)
	b.add(l)
	return l
}

// add takes in a ledger, for the one that was not named for longest where there
// are too many.
func (b *book) add(l *ledger) {
	if len(b.ledgers) >= mostBuckets {
		oldest := 0
		for i, l := range b.ledgers {
			if l.seen.Before(b.ledgers[oldest].seen) {
				oldest = i
			}
		}
		b.ledgers[oldest] = b.ledgers[len(b.ledgers)-1]
		b.ledgers = b.ledgers[:len(b.ledgers)-1]
	}
	b.ledgers = append(b.ledgers, l)
}

// supersede retires buckets whose policy is now reported with another limit.
func (b *book) supersede(reported map[*ledger]Report) {
	for _, l := range b.ledgers {
		if _, ok := reported[l]; ok {
			l.superseded, l.remembered = false, false
			continue
		}
		for other, r := range reported {
			if r.PolicyKnown && other.policy == l.policy && other.limit.window == l.limit.window {
				l.superseded = true
			}
		}
	}
}
