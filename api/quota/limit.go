package quota

import "time"

// limit is what one bucket allows, as far as it is known.
type limit struct {
	requests int64         // a window; 0 when not known
	window   time.Duration // 0 when not known

	remaining int64       // as last reported
	base      int64       // requests of the class that the report surely counts
	until     time.Time   // when the report's window has passed; zero before the first
	others    time.Time   // when others were last seen to spend
	seen      int64       // requests of others in one window, the most of late
	sights    []time.Time // when others sent those that were observed of late, oldest first
	crowd     crowd
}

// perSecond reports whether the bucket is of the kind of the contract's
// per-second ones.
func (b *limit) perSecond() bool {
	return b.requests > 0 && b.window > 0 && b.window <= perSecondWindow
}

// short reports whether a person is made to wait for the bucket.
func (b *limit) short() bool { return b.window <= longestPause }

// opening is when the bucket has room for w. Where never, only the end of another
// request makes room. A request below Person that takes a person's turn is held
// to the share but not to the reserve.
func (b *limit) opening(l *lane, w *waiter, turn bool, now time.Time) (at time.Time, never bool) {
	reserve := int64(0)
	if w.low() && !turn {
		reserve = b.most(l.pacer.cfg.Reserve)
	}
	at, never = b.vacancy(l, w.low() && !turn, reserve, now)
	if never {
		return at, never
	}
	if w.low() {
		share, never := b.share(l, w.priority, now)
		if never {
			return at, never
		}
		at = later(at, share)
	}
	if w.low() && !turn && b.crowded(l.pacer.cfg.Reserve, now) {
		at = later(at, l.low.last.Add(b.crowd.patience+b.crowd.offset))
	}
	return later(at, b.reported(l, w.low(), reserve, now)), false
}

// most cuts a reserve so that at least one request has room.
func (b *limit) most(reserve int64) int64 {
	if b.requests > 0 {
		return min(reserve, b.requests-1)
	}
	return reserve
}

// vacancy is when the requests of this client leave room. Where windows are long
// enough for t to be exact, the service's own figures stand in for their count:
// as long as the last report holds, and, once its window has passed, for one
// request that asks for the next.
func (b *limit) vacancy(l *lane, low bool, reserve int64, now time.Time) (at time.Time, never bool) {
	exact := !b.until.IsZero() && b.window > shortest
	if exact && now.Before(b.until) && b.left(l) > reserve {
		return time.Time{}, false
	}
	if low {
		reserve = b.most(reserve + b.crowd.size(now))
	}
	at, never = b.room(l, max(reserve, b.most(b.expected(l, now))))
	if exact && l.all.inFlight == 0 && at.After(b.until) {
		return b.until, false
	}
	return at, never
}

// expected is how many requests of others to leave room for where no report
// tells what is left: as many as they have spent of late.
func (b *limit) expected(l *lane, now time.Time) int64 {
	if now.Before(b.until) && b.left(l) > 0 || b.quiet(now) {
		return 0
	}
	return b.seen
}

// left is what remains of the last report after the requests that it may not
// have counted.
func (b *limit) left(l *lane) int64 { return b.remaining - (l.started - b.base) }

// quiet reports whether others have not been seen to spend of late.
func (b *limit) quiet(now time.Time) bool {
	return b.others.IsZero() || now.Sub(b.others) > othersRemembered
}

// room is when fewer requests of this client than the limit, less the reserve,
// may occupy a window.
func (b *limit) room(l *lane, reserve int64) (at time.Time, never bool) {
	if b.requests == 0 || b.requests > mostKept || b.window == 0 || !b.short() {
		return time.Time{}, false
	}
	return l.all.room(b.requests-reserve, b.window)
}

// share is when requests below Person occupy less than their share. Hints may go
// at once within it; what nobody waits for is spread evenly over the window.
func (b *limit) share(l *lane, priority Priority, now time.Time) (at time.Time, never bool) {
	if b.requests == 0 || b.window == 0 {
		return time.Time{}, false
	}
	const rounding = 1e-9
	allowed := l.pacer.cfg.Share*float64(b.requests) + rounding
	each := time.Duration(min(float64(b.window)/allowed, float64(maxWindow)))
	if allowed < 1 || !b.short() || allowed > mostKept {
		return l.low.room(1, each)
	}
	at, never = l.low.room(int64(allowed), b.window)
	// Hints that went out together in each window, as it begins, would never see what
	// others put into the rest of it.
	spread := priority > Hint || b.crowd.size(now) > 0 || l.low.since(now.Add(-2*b.window)) >= 2*int64(allowed)
	if spread && !never {
		at = later(at, l.low.last.Add(each))
	}
	return at, never
}

// reported is when the last report leaves room: at once, where enough remains
// after the requests that it may not have counted, else when its window has
// passed.
func (b *limit) reported(l *lane, low bool, reserve int64, now time.Time) time.Time {
	switch {
	case b.until.IsZero() || b.left(l) > reserve:
		return time.Time{}
	case !low && (b.until.Sub(now) > longestPause || b.ownOnly(now)):
		return time.Time{}
	}
	return b.until
}

// ownOnly reports whether nobody else is seen to spend. Then the times of this
// client's own requests say more exactly than a t of whole seconds when the next
// window begins.
func (b *limit) ownOnly(now time.Time) bool {
	return b.requests > 0 && b.window > 0 && b.window <= shortest && b.quiet(now)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
