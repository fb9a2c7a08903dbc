package account

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Schedules of unprompted reads, by state and by whether the feed is live. Spans are in thirtieths of the poll
// interval: at its default of 30 s, in seconds.
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
	pastExpiry       = 3 * time.Second  // how long after the end of its window an intent is read
	overdueAtLeast   = 10 * time.Second // the least time until it is read again if it still awaits
	verifyEndsWithin = 24 * time.Hour   // older reported ends are not read unprompted
)

// steps is a widening schedule: the span until the next read, by the number of reads.
type steps []int

// at is the span after n reads, n from 1; the last step repeats.
func (st steps) at(n int, poll time.Duration) time.Duration {
	return time.Duration(st[min(max(n, 1), len(st))-1]) * poll / 30
}

// scheduleInput is how the watcher learns of changes, and what is usual for the account's intents.
type scheduleInput struct {
	habits
	fed  bool // the feed is live
	lost bool // a feed is configured but not live
	poll time.Duration
	slow time.Duration // the slow clock's span: between rereads while the feed is live

	unheard time.Time // of intents that completed before it, no shipment event is expected; zero: the list of shipments shows them
}

// nextRead decides when to read an intent unprompted; zero: never. It is never for an intent whose end is
// verified, unless its orders are still missing.
func nextRead(in *IntentDetail, t scheduleInput, now time.Time) (due time.Time, priority quota.Priority) {
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
		due, priority = now.Add(t.poll), quota.Reconcile
	default:
		span := pollSpan(in, t)
		due, priority = b.newest.Add(span), quota.Timer
		if t.fed && span == t.slow {
			priority = quota.Reconcile
		}
	}
	if again, urgency, known := windowRead(in); known && again.Before(due) {
		due, priority = again, urgency
	}
	return due, priority
}

// pollSpan is how long after its newest read to read an open intent again.
func pollSpan(in *IntentDetail, t scheduleInput) time.Duration {
	age := in.basis.newest.Sub(in.Since)
	switch {
	case in.State == api.PlacingOrder && t.fed:
		// An order placed within the usual time needs no read: its event will come.
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

// lookForConfirm is how long after its newest read an awaiting intent has probably been confirmed by another
// client but not yet ended. Until the account has a history, it is read once soon.
func lookForConfirm(in *IntentDetail, age time.Duration, t scheduleInput) time.Duration {
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

// capped bounds a span without a live feed: to one poll while the feed is lost; without any feed, to one to four
// polls, by the age of the state.
func capped(span, age time.Duration, t scheduleInput) time.Duration {
	if t.lost {
		return min(span, t.poll)
	}
	return max(span, min(age/8, 4*t.poll))
}

// windowRead is when to read whether an intent has expired: shortly after its window closes, as urgently as after
// an event, because expiry has none; then less and less often while it still awaits.
func windowRead(in *IntentDetail) (due time.Time, priority quota.Priority, known bool) {
	if in.ExpiresAt.IsZero() {
		return time.Time{}, 0, false
	}
	closes := in.ExpiresAt.Add(pastExpiry)
	if in.basis.newest.Before(closes) {
		return closes, quota.Hint, true
	}
	return in.basis.newest.Add(max(overdueAtLeast, in.basis.newest.Sub(closes))), quota.Timer, true
}

// nextShipmentList decides when to list the shipments of a completed intent: once, if none is known; zero: never.
func nextShipmentList(in *IntentDetail, t scheduleInput, now time.Time) time.Time {
	if in.State != api.Completed || in.Certainty != Verified || len(in.Shipments) > 0 || in.basis.listed ||
		now.Sub(in.Since) > verifyEndsWithin || (!in.CreatedAt.IsZero() && now.Sub(in.CreatedAt) > verifyEndsWithin) {
		return time.Time{}
	}
	switch {
	case in.Since.Before(t.unheard):
		return in.Since
	case t.fed:
		return in.Since.Add(20 * t.poll)
	}
	return in.Since.Add(4 * t.poll)
}

// nextShipmentRead decides when to read a shipment unprompted; zero: never. With a live feed it is only
// reconciled, together with others.
func nextShipmentRead(sh *Shipment, t scheduleInput) time.Time {
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
