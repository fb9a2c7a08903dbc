package account

import (
	"cmp"
	"context"
	"errors"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// A live feed tells of every change, unless an event is lost on its way to the
// relay. So what is open is read again on a slow clock: placing and awaiting
// intents one by one, shipments many in one list. Shipments of which no event came
// at all are found on the newest page of the service's list. Spans are in poll
// intervals, so in half minutes at its default.
const (
	slowPolls  = 16 // between two reads of the same: with what they wait for, less than ten minutes
	slotPolls  = 4  // shipments whose reads fall into one such slot are read together
	sweepPolls = 18 // between two looks at the newest shipments

	slowShare    = 0.01 // of the reads bucket: the slow clock goes slower where it would spend more
	presumedRate = 10   // reads a second, until the service tells (contract, Limits)

	sweepPages = 10 // of the newest shipments, read at the start
)

// slowSpan is how long after its newest read something open is read again
// although nothing hints at a change: where so many are open that their reads
// would spend more than a small share of the bucket, it is longer.
func slowSpan(poll time.Duration, open int, perSecond float64) time.Duration {
	return max(slowPolls*poll, time.Duration(float64(open)/(slowShare*perSecond)*float64(time.Second)))
}

// setSlowClock fits the slow clock to what is open and to the reads bucket.
func (w *Watcher) setSlowClock(now time.Time) {
	rate := float64(presumedRate)
	for _, b := range w.store.buckets(now) {
		if b.Class == quota.Reads && b.Limit > 0 && b.Window > 0 {
			rate = min(rate, float64(b.Limit)/b.Window.Seconds())
		}
	}
	slow := slowSpan(w.cfg.Poll, w.store.slowReads(), rate)
	w.mu.Lock()
	w.slow = slow
	w.mu.Unlock()
}

// slot is the first moment not before t at which shipments are read together.
func slot(t time.Time, poll time.Duration) time.Time {
	at := t.Truncate(slotPolls * poll)
	if at.Before(t) {
		at = at.Add(slotPolls * poll)
	}
	return at
}

// keepSweeping looks for shipments on the service's list of them (contract,
// Endpoints): on several pages at the start where no feed tells of them, then
// on the newest again and again. A service that does not answer a list without ids
// is asked once.
func (w *Watcher) keepSweeping(ctx context.Context) {
	if len(w.cfg.Only) > 0 {
		return
	}
	<-w.asked // what the list of intents shows need not be read one by one, because a shipment names it
	// At first a feed tells of what the list of shipments would show.
	if w.cfg.Feed != nil && !w.nap(ctx, sweepPolls*w.cfg.Poll) {
		return
	}
	for failed := 0; ; {
		pause := sweepPolls * w.cfg.Poll
		switch err := caught(func() error { return w.sweep(ctx) }); {
		case isRefusal(err):
			return
		case err != nil:
			failed++
			pause = listPause(failed, err)
		default:
			failed = 0
		}
		if !w.nap(ctx, pause) {
			return
		}
	}
}

// isRefusal reports whether a list was refused as such, which no other try will
// change.
func isRefusal(err error) bool {
	return errors.Is(err, api.ErrNotServed) || errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrValidation)
}

// sweep reads the newest shipments, up to a page without news.
func (w *Watcher) sweep(ctx context.Context) error {
	status := w.store.listStatus(shipmentList)
	first := status.State != ListWhole && status.State != ListCut
	deep := first && w.cfg.Feed == nil
	sent, taken := time.Now(), 0
	var page []api.Shipment
	end := ListWhole
	for sh, err := range w.cfg.Reader.Shipments(quota.WithPriority(ctx, quota.Reconcile), api.ShipmentQuery{}) {
		if isOneItem(err) {
			continue
		}
		if err != nil {
			return w.sweepFailed(ctx, status, err)
		}
		if taken == 0 {
			sent = cmp.Or(sh.Response.Sent, sent)
		}
		page = append(page, sh)
		if taken++; taken%listPage != 0 {
			continue
		}
		news := w.store.applySweep(page, sent)
		page = nil
		if taken >= sweepPages*listPage || !deep && !news {
			end = ListCut
			break
		}
	}
	if len(page) > 0 || taken == 0 {
		w.store.applySweep(page, sent)
	}
	if !first {
		end = status.State
	}
	w.serviceAnswered()
	w.store.setList(shipmentList, ListStatus{State: end})
	return nil
}

// sweepFailed notes why the list of shipments could not be read.
func (w *Watcher) sweepFailed(ctx context.Context, status ListStatus, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isRefusal(err):
		status = ListStatus{State: ListNotServed}
	default:
		w.store.readFailed(err)
		w.judgeKey(time.Now())
		status.Err = err
	}
	w.store.setList(shipmentList, status)
	return err
}

// serviceAnswered notes that a list was answered.
func (w *Watcher) serviceAnswered() {
	now := time.Now()
	w.mu.Lock()
	w.answered = now
	w.acceptKey(now)
	w.mu.Unlock()
	w.stir()
}

// applySweep merges a page of the list of shipments, but for those that ended
// long ago and that nothing else has named. It reports whether there was anything
// new.
func (s *Store) applySweep(page []api.Shipment, sent time.Time) (news bool) {
	now := time.Now()
	s.mu.Lock()
	var concern []api.Shipment
	for i := range page {
		sh := &page[i]
		past := sh.Status.Terminal() && now.Sub(sh.UpdatedAt) > verifyEndsWithin || s.intents.past.has(sh.IntentID)
		if !past || s.shipments.get(sh.ID) != nil || s.intents.get(sh.IntentID) != nil {
			concern = append(concern, *sh)
		}
	}
	s.intents.reads.Reconciled++
	s.mu.Unlock()
	return s.ApplyShipments(concern, sent)
}
