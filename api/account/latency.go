package account

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Latency is how long the service has taken to answer the newest requests of one class, from
// tillwatch or from others, at most 256 of them. It is immutable.
type Latency struct {
	Class      quota.Class `json:"class,omitempty"`      // of the endpoints; "" if the contract names none
	Others     bool        `json:"others,omitempty"`     // requests seen by proxies; otherwise those that tillwatch sent
	Recent     Pace        `json:"recent,omitzero"`      // of the answers without refusals (429): those take no work
	Unanswered int         `json:"unanswered,omitempty"` // requests without an answer
}

// latencies holds how long the requests of each class and side took: tillwatch's own first, in
// the contract's order of classes.
type latencies []*latencyBook

// latencyBook holds the newest requests of one class and side.
type latencyBook struct {
	class  quota.Class
	others bool
	took   []time.Duration // oldest first; 0: no answer
}

// rank orders the books.
func (b *latencyBook) rank() int {
	rank := slices.Index(quota.Classes(), b.class)
	if rank < 0 {
		rank = len(quota.Classes())
	}
	if b.others {
		rank += len(quota.Classes()) + 1
	}
	return rank
}

// add takes a request; one with By is somebody else's.
func (l *latencies) add(e *api.Exchange) {
	if e.Status == http.StatusTooManyRequests || e.Status != 0 && e.Latency <= 0 {
		return
	}
	took := e.Latency
	if e.Status == 0 {
		took = 0
	}
	b := l.of(e.Class, e.By != "")
	b.took = newest(append(b.took, took), keptStays)
}

func (l *latencies) of(class quota.Class, others bool) *latencyBook {
	for _, b := range *l {
		if b.class == class && b.others == others {
			return b
		}
	}
	b := &latencyBook{class: class, others: others}
	*l = append(*l, b)
	slices.SortFunc(*l, func(a, b *latencyBook) int { return cmp.Compare(a.rank(), b.rank()) })
	return b
}

// list returns the latencies of all books.
func (l latencies) list() []Latency {
	var all []Latency
	for _, b := range l {
		answered := slices.DeleteFunc(slices.Clone(b.took), func(took time.Duration) bool { return took == 0 })
		all = append(all, Latency{b.class, b.others, paceOf(answered), len(b.took) - len(answered)})
	}
	return all
}
