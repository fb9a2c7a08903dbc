package quota

import (
	"cmp"
	"time"
)

// limit is what one bucket allows, as far as known.
type limit struct {
	requests int64         // requests per window; 0 while unknown
	window   time.Duration // 0 while unknown

	remaining int64       // as last reported
	base      int64       // how many requests of the class the report counts for certain
	until     time.Time   // when the report's window ends; zero before the first
	others    time.Time   // when others were last seen to spend
	seen      int64       // the most requests of others recently observed in one window
	sights    []time.Time // when the recently observed requests of others were sent, oldest first
	demand    demand

	resets time.Duration // how long the last report was to hold
	ends   time.Time     // when a long window ends, by a report or since it was first used
	booked time.Time     // up to when requests below Person have used their share of it
}

// perSecond reports whether this is one of the contract's per-second buckets, or like them.
func (b *limit) perSecond() bool {
	return b.requests > 0 && b.window > 0 && b.window <= perSecondWindow
}

// short reports whether a person may be made to wait for the bucket.
func (b *limit) short() bool { return b.window <= longestPause }

// span is the window, or at least the time until it resets.
func (b *limit) span() time.Duration { return cmp.Or(b.window, b.resets) }

// long reports whether what is spent now is missing for long.
func (b *limit) long() bool { return b.span() >= longWindow }

// opening returns when the bucket has room for w; never if that depends on another request's end. A request below
// Person that takes a person's turn is bound by the share but not by the reserve, except that of a long window.
func (b *limit) opening(q *queue, w *waiter, turn bool, now time.Time) (at time.Time, never bool) {
	kept := int64(0)
	if turn = turn && !b.long(); w.low() && !turn {
		kept = b.most(reserve(q.pacer.cfg.Reserve, b.requests, b.span()))
	}
	at, never = b.vacancy(q, kept, now)
	if never {
		return at, never
	}
	if w.low() {
		share, never := b.share(q, w.priority, now)
		if never {
			return at, never
		}
		at = later(at, share)
	}
	if w.low() && !turn && b.contended(q.pacer.cfg.Reserve, now) {
		at = later(at, q.low.last.Add(b.demand.patience))
	}
	return later(at, b.reported(q, w.low(), kept, now)), false
}

// reserve is how many requests are kept for persons and other clients: of a long window at least one in a hundred,
// as a checkout may need many before it resets.
func reserve(least, requests int64, window time.Duration) int64 {
	if window >= longWindow && least > 0 {
		return max(least, requests/100)
	}
	return least
}

// most limits a reserve so that at least one request has room.
func (b *limit) most(reserve int64) int64 {
	if b.requests > 0 {
		return min(reserve, b.requests-1)
	}
	return reserve
}

// vacancy returns when this client's requests leave room. If the window is long enough for an exact reset, the
// service's figures replace the count: while the last report holds, and after it for one request that gets the
// next.
func (b *limit) vacancy(q *queue, reserve int64, now time.Time) (at time.Time, never bool) {
	exact := !b.until.IsZero() && b.window > shortest
	if exact && now.Before(b.until) && b.left(q) > reserve {
		return time.Time{}, false
	}
	at, never = b.room(q, max(reserve, b.most(b.expected(q, now))))
	if exact && q.all.inFlight == 0 && at.After(b.until) {
		return b.until, false
	}
	return at, never
}

// expected is how many requests of others to leave room for while no report says what is left: as many as they
// have recently sent.
func (b *limit) expected(q *queue, now time.Time) int64 {
	if now.Before(b.until) && b.left(q) > 0 || b.quiet(now) {
		return 0
	}
	return b.seen
}

// left is what remains of the last report after the requests that it may not have counted.
func (b *limit) left(q *queue) int64 { return b.remaining - (q.started - b.base) }

// quiet reports whether others have not been seen recently.
func (b *limit) quiet(now time.Time) bool {
	return b.others.IsZero() || now.Sub(b.others) > othersRemembered
}

// room returns when this client's requests occupy less of a window than the limit minus the reserve.
func (b *limit) room(q *queue, reserve int64) (at time.Time, never bool) {
	if b.requests == 0 || b.requests > mostKept || b.window == 0 || !b.short() {
		return time.Time{}, false
	}
	return q.all.room(b.requests-reserve, b.window)
}

// share returns when requests below Person occupy less than their share. Hints may go at once within it; what
// nobody waits for is spread evenly over the window.
func (b *limit) share(q *queue, priority Priority, now time.Time) (at time.Time, never bool) {
	switch {
	case b.long():
		return b.spread(q, priority, now), false
	case b.requests == 0 || b.window == 0:
		return time.Time{}, false
	}
	const rounding = 1e-9
	allowed := q.pacer.cfg.Share*float64(b.requests) + rounding
	each := time.Duration(min(float64(b.window)/allowed, float64(maxReset)))
	if allowed < 1 || allowed > mostKept {
		return q.low.room(1, each)
	}
	at, never = q.low.room(int64(allowed), b.window)
	// If all hints went out together at the start of each window, they would never see what others spend in the rest.
	spread := priority > Hint || b.demand.size(now) > 0 || q.low.since(now.Add(-2*b.window)) >= 2*int64(allowed)
	if spread && !never {
		at = later(at, q.low.last.Add(each))
	}
	return at, never
}

// spread returns when a request below Person may go in a long window. Each books a part of the time until its end.
// A quarter of that time stays free for what follows, and for all but hints a half: a start is quick, an event is
// read at once, and neither starves the rest of the window. However long the wait, one goes out in time to see
// whether the bucket is still named.
func (b *limit) spread(q *queue, priority Priority, now time.Time) time.Time {
	if !now.Before(b.ends) || !now.Before(b.booked) {
		return time.Time{}
	}
	free := b.ends.Sub(b.booked)
	at := b.ends.Add(-2 * free)
	if priority == Hint {
		at = b.ends.Add(-4 * free)
	}
	return earlier(at, earlier(b.ends, q.low.last.Add(maxReset)))
}

// book books the part of a long window that one request below Person may use: their share of what is left would fill
// the time until its end, and their share of the whole limit the whole window.
func (b *limit) book(q *queue, now time.Time) {
	left := b.requests
	if now.Before(b.until) {
		left = max(b.left(q), 1)
	}
	if !b.long() || left == 0 {
		return
	}
	if !now.Before(b.ends) {
		b.ends = now.Add(b.span())
	}
	part := float64(b.ends.Sub(now)) / float64(left)
	if b.requests > 0 {
		part = max(part, float64(b.span())/float64(b.requests))
	}
	b.booked = later(b.booked, now).Add(time.Duration(min(part/q.pacer.cfg.Share, float64(maxWindow))))
}

// holds takes in how long a report holds. Longer resets are cut, so they say nothing of a window's end.
func (b *limit) holds(resets time.Duration, received time.Time) {
	b.resets, b.until = resets, received.Add(resets+slack)
	if resets < maxReset {
		b.ends = b.until
	}
}

// reported returns when the last report leaves room: now if enough remains after the requests that it may not have
// counted, else when its window ends.
func (b *limit) reported(q *queue, low bool, reserve int64, now time.Time) time.Time {
	switch {
	case b.until.IsZero() || b.left(q) > reserve:
		return time.Time{}
	case !low && (b.until.Sub(now) > longestPause || b.ownOnly(now)):
		return time.Time{}
	}
	return b.until
}

// ownOnly reports whether nobody else is seen to spend. Then this client's own request times predict the next
// window more exactly than a reset in whole seconds.
func (b *limit) ownOnly(now time.Time) bool {
	return b.requests > 0 && b.window > 0 && b.window <= shortest && b.quiet(now)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
