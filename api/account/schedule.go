package account

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Reads that nobody asked for, by state and by how far the feed can be trusted. Spans are in thirtieths of the poll interval, so in seconds at its
// default of 30 s.
var (
	placingAlone  = steps{2, 5, 10, 20, 30}
	placingFed    = steps{20, 30, 60, 120}
	retrieveAlone = steps{5, 10, 20, 30}
	retrieveFed   = steps{30, 60, 120}
	oddState      = steps{60, 120, 240}
	behindEvent   = steps{1, 2, 5, 15, 30, 60, 120, 300}
	notFound      = steps{5, 30, 300}
	noOrderYet    = steps{30, 120, 600}
)

const (
	pastExpiry       = 3 * time.Second  // how long after the window's end an intent is read
	overdueAtLeast   = 10 * time.Second // and at least until it is read again if it still awaits
	verifyEndsWithin = 24 * time.Hour   // older reported ends are not read by themselves
)

// steps is a widening schedule: the span until the next read, by how many there
// were.
type steps []int

// at is the span after n reads: n from 1, the last step for ever after.
func (st steps) at(n int, poll time.Duration) time.Duration {
	return time.Duration(st[min(max(n, 1), len(st))-1]) * poll / 30
}

// trust is how the watcher hears of changes, and how the account's intents go.
type trust struct {
	habits
	fed  bool // the feed is live
	lost bool // there should be a feed, and it is not live
	poll time.Duration
	slow time.Duration // between reads of the same while the feed is live: the slow clock
}

// nextRead decides when an intent is to be read although nothing hints at a
// change; zero: never. That is so for an intent whose end is verified, save for one
// that still lacks its order.
func nextRead(in *IntentDetail, t trust, now time.Time) (due time.Time, priority quota.Priority) {
	switch b := &in.basis; {
	case b.missing > len(notFound):
		return time.Time{}, 0
	case b.missing > 0:
		return b.newest.Add(notFound.at(b.missing, t.poll)), quota.Timer
	case in.State == api.Completed && in.Certainty == Verified && !b.ordered && b.reads <= len(noOrderYet):
		return b.newest.Add(noOrderYet.at(b.reads, t.poll)), quota.Reconcile
	case !in.Open() || in.State.Terminal() && now.Sub(in.Since) > verifyEndsWithin:
		return time.Time{}, 0
	case b.behind > 0:
		return b.newest.Add(behindEvent.at(b.behind, t.poll)), quota.Timer
	case b.newest.IsZero():
		return now.Add(t.poll), quota.Reconcile
	}
	span := pollSpan(in, t)
	due, priority = in.basis.newest.Add(span), quota.Timer
	if t.fed && span == t.slow {
		priority = quota.Reconcile
	}
	if closes, known := windowRead(in); known && closes.Before(due) {
		due, priority = closes, quota.Timer
	}
	return due, priority
}

// worthReading reports whether an open intent is to be read to be sure: not when
// it was never found, and not when it is long since reported to have ended.
func worthReading(in *IntentDetail, now time.Time) bool {
	return in.basis.missing <= len(notFound) && (!in.State.Terminal() || now.Sub(in.Since) <= verifyEndsWithin)
}

// pollSpan is how long after its newest read an open intent is read again.
func pollSpan(in *IntentDetail, t trust) time.Duration {
	age := in.basis.newest.Sub(in.Since)
	switch {
	case in.State == api.PlacingOrder && t.fed:
		// An order that takes no longer than is usual here needs no look: its event
		// will come.
		return widened(max(placingFed.at(in.basis.reads, t.poll), min(t.placing, 10*t.poll)), age, t.poll)
	case in.State == api.PlacingOrder:
		return capped(placingAlone.at(in.basis.reads, t.poll), age, t)
	case in.State == api.RetrievingOffer && t.fed:
		return widened(retrieveFed.at(in.basis.reads, t.poll), age, t.poll)
	case in.State == api.RetrievingOffer:
		return capped(retrieveAlone.at(in.basis.reads, t.poll), age, t)
	case in.State == api.AwaitingConfirmation && t.fed && t.elsewhere:
		return min(lookForConfirm(in, age, t), t.slow)
	case in.State == api.AwaitingConfirmation && t.fed:
		return t.slow
	case in.State == api.AwaitingConfirmation:
		return capped(t.poll, age, t)
	case t.lost:
		return t.poll
	}
	return widened(oddState.at(in.basis.reads, t.poll), age, t.poll)
}

// lookForConfirm is how long after its newest read an awaiting intent is likely
// to have been confirmed by somebody else and not yet to have ended. Until the
// account has a history, one look is taken soon.
func lookForConfirm(in *IntentDetail, age time.Duration, t trust) time.Duration {
	if len(t.confirms.delays) < enoughStays {
		if in.basis.reads <= 1 {
			return t.poll / 2
		}
		return t.slow
	}
	if look, worth := t.confirms.next(max(age, 0)); worth {
		return look - max(age, 0)
	}
	return neverConfirmed
}

// widened lets a span grow with the age of a state, up to ten polls.
func widened(span, age, poll time.Duration) time.Duration {
	return max(span, min(age/4, 10*poll))
}

// capped is for an account without a live feed: while the feed is lost nothing
// open goes longer than a poll without a read; without any feed a state that
// lasts is read less often, up to four polls apart.
func capped(span, age time.Duration, t trust) time.Duration {
	if t.lost {
		return min(span, t.poll)
	}
	return max(span, min(age/8, 4*t.poll))
}

// windowRead is when to look whether an intent has expired: shortly after its
// window has closed, and less and less often while it still awaits after that.
func windowRead(in *IntentDetail) (time.Time, bool) {
	if in.ExpiresAt.IsZero() {
		return time.Time{}, false
	}
	closes := in.ExpiresAt.Add(pastExpiry)
	if in.basis.newest.Before(closes) {
		return closes, true
	}
	return in.basis.newest.Add(max(overdueAtLeast, in.basis.newest.Sub(closes))), true
}

// nextShipmentList decides whether and when the shipments of a completed intent
// are listed: once, if nothing else has told of any.
func nextShipmentList(in *IntentDetail, t trust, now time.Time) time.Time {
	if in.State != api.Completed || in.Certainty != Verified || len(in.Shipments) > 0 || in.basis.listed ||
		now.Sub(in.Since) > verifyEndsWithin || (!in.CreatedAt.IsZero() && now.Sub(in.CreatedAt) > verifyEndsWithin) {
		return time.Time{}
	}
	after := 4 * t.poll
	if t.fed {
		after = 20 * t.poll
	}
	return in.Since.Add(after)
}

// nextShipmentRead decides when a shipment is read although nothing hints at a
// change; zero: never. With a live feed it is only read to be sure, together with others.
func nextShipmentRead(sh *Shipment, t trust) time.Time {
	switch {
	case sh.missing > len(notFound):
		return time.Time{}
	case sh.missing > 0:
		return sh.newest.Add(notFound.at(sh.missing, t.poll))
	case sh.Status().Terminal() || sh.newest.IsZero():
		return time.Time{}
	case t.fed:
		return slot(sh.newest.Add(t.slow-slotPolls*t.poll), t.poll)
	}
	return sh.newest.Add(10 * t.poll)
}
