package quota

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// agingStep is the waiting time that lifts a request by one priority.
const agingStep = 5 * time.Second

// waiter is one request: waiting, permitted or ended.
type waiter struct {
	priority Priority
	since    time.Time // when it began to wait
	ready    chan struct{}

	permitted bool
	ended     bool
	probe     bool      // sent alone after a refusal
	at        time.Time // when it was permitted
	number    int64     // its number among the permits of its class, from 1
	before    int64     // how many requests of its class had ended by then
}

func (w *waiter) low() bool { return w.priority > Person }

// rank is the priority after aging.
func (w *waiter) rank(now time.Time) Priority {
	return max(Person, w.priority-Priority(now.Sub(w.since)/agingStep))
}

// queue is one class: its waiting requests, its spending and its book. The pacer's lock guards it.
type queue struct {
	pacer   *Pacer
	waiting []*waiter // in order of arrival
	timer   *time.Timer

	started, ended int64 // requests so far
	all, low       spending
	book           *book
	pause          pause
}

func newQueue(p *Pacer, class Class) *queue {
	q := &queue{pacer: p, book: newBook(class), pause: pause{growing: growingPause()}}
	q.timer = time.AfterFunc(time.Hour, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		q.dispatch(time.Now())
	})
	q.timer.Stop()
	return q
}

func (q *queue) enqueue(w *waiter, now time.Time) {
	w.since = now
	q.waiting = append(q.waiting, w)
	q.dispatch(now)
}

func (q *queue) leave(w *waiter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(o *waiter) bool { return o == w })
}

func (q *queue) withdraw(w *waiter, now time.Time) {
	if w.permitted {
		w.ended = true
		q.ended++
		q.all.withdraw()
		if w.low() {
			q.low.withdraw()
		}
		q.pause.settle(w)
	} else {
		q.leave(w)
	}
	q.dispatch(now)
}

// dispatch permits every request that may go now, and sets the timer for the next.
func (q *queue) dispatch(now time.Time) {
	for {
		wake, done := q.dispatchOne(now)
		if done {
			continue
		}
		if wake.IsZero() {
			q.timer.Stop()
		} else {
			q.timer.Reset(max(wake.Sub(now), 0))
		}
		return
	}
}

// dispatchOne permits the first request that may go. If none may, it returns when the first will; zero if that
// depends on another request's end.
func (q *queue) dispatchOne(now time.Time) (wake time.Time, done bool) {
	for _, w := range q.heads(now) {
		at, never, _ := q.opening(w, now)
		switch {
		case never:
		case !at.After(now):
			q.permit(w, now)
			return time.Time{}, true
		case wake.IsZero() || at.Before(wake):
			wake = at
		}
	}
	return wake, false
}

// heads returns the first waiter of each priority, in the order in which they may go.
func (q *queue) heads(now time.Time) []*waiter {
	var heads []*waiter
	for _, w := range q.waiting {
		if !slices.ContainsFunc(heads, func(head *waiter) bool { return head.priority == w.priority }) {
			heads = append(heads, w)
		}
	}
	slices.SortFunc(heads, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.rank(now), b.rank(now)), a.since.Compare(b.since), cmp.Compare(a.priority, b.priority))
	})
	return heads
}

// waits returns for which long window the next request waits, and until when; nil if none does.
func (q *queue) waits(now time.Time) (holds *limit, until time.Time) {
	for _, w := range q.heads(now) {
		at, never, limit := q.opening(w, now)
		if !never && limit != nil && limit.long() && at.After(now) && (holds == nil || at.Before(until)) {
			holds, until = limit, at
		}
	}
	return holds, until
}

// opening returns when w may go, as far as known now, and the limit that it then waits for, if any; never if that
// depends on another request's end.
func (q *queue) opening(w *waiter, now time.Time) (at time.Time, never bool, holds *limit) {
	at, never = q.pause.opening()
	if never {
		return at, never, nil
	}
	// A request that has aged to the top takes a waiting person's turn: the account spends the same, so the reserve
	// need not hold it back.
	turn := w.low() && w.rank(now) == Person && slices.ContainsFunc(q.waiting, func(w *waiter) bool { return w.priority == Person })
	for _, limit := range q.book.limits(now) {
		opens, never := limit.opening(q, w, turn, now)
		if never {
			return at, never, limit
		}
		if opens.After(at) {
			at, holds = opens, limit
		}
	}
	return at, false, holds
}

func (q *queue) permit(w *waiter, now time.Time) {
	q.leave(w)
	q.started++
	w.permitted, w.at, w.number, w.before = true, now, q.started, q.ended
	q.all.begin(now)
	if w.low() {
		q.low.begin(now)
		for _, limit := range q.book.limits(now) {
			limit.book(q, now)
		}
	}
	q.pause.begin(w)
	close(w.ready)
}

// finish takes in a request that has ended.
func (q *queue) finish(w *waiter, o Outcome, fields Fields, now time.Time) {
	if w.ended {
		return
	}
	w.ended = true
	q.ended++
	q.all.end(now)
	if w.low() {
		q.low.end(now)
	}
	a := q.answer(w, o, fields, now)
	q.pause.answered(w, a, q)
	q.book.record(a, q)
	q.dispatch(now)
}

// answer returns a request that has ended, with plausible times: a wrong time must not make a report look newer
// than it is.
func (q *queue) answer(w *waiter, o Outcome, fields Fields, now time.Time) answer {
	a := answer{waiter: w, class: q.book.class, outcome: o, fields: fields, sent: o.Sent, received: o.Received}
	if a.received.IsZero() || a.received.After(now) || a.received.Before(w.at) {
		a.received = now
	}
	if a.sent.IsZero() || a.sent.Before(w.at) || a.sent.After(a.received) {
		a.sent = w.at
	}
	return a
}

// answer is a request's end, as the book takes it in.
type answer struct {
	*waiter
	class          Class
	outcome        Outcome
	fields         Fields
	sent, received time.Time
}

// refused reports whether a per-second bucket refused the request. Only a mutation counts against others, too: then
// the answer's words say so, or only such a bucket is reported as empty.
func (a answer) refused() bool {
	switch {
	case a.outcome.Status != http.StatusTooManyRequests:
		return false
	case a.class != Mutations:
		return true
	}
	empty, lasting := false, false
	for _, r := range a.fields.Reports {
		if r.RemainingKnown && r.Remaining == 0 {
			perSecond := r.PolicyKnown && r.Window > 0 && r.Window <= perSecondWindow
			empty = empty || perSecond
			lasting = lasting || !perSecond
		}
	}
	return a.outcome.PerSecond || empty && !lasting
}
