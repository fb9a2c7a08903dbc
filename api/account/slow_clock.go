package account

import (
	"time"

	"tillwatch/api/quota"
)

// A live feed reports every change, unless an event is lost on its way to the relay. So open things are read again
// on a slow clock: placing and awaiting intents one by one, shipments many to a list. Shipments without any event
// are found on the newest page of the service's list.
const (
	slowPolls = 16 // poll intervals between rereads: with waiting, less than ten minutes
	slotPolls = 4  // poll intervals per slot in which shipments are read together

	slowShare = 0.01 // of the reads bucket: the slow clock slows down rather than spend more
)

// slowSpan is how long after its newest read something open is read again unprompted. It grows when rereading all
// that is open would spend more than slowShare of the bucket.
func slowSpan(poll time.Duration, open int, perSecond float64) time.Duration {
	return max(slowPolls*poll, time.Duration(float64(open)/(slowShare*perSecond)*float64(time.Second)))
}

// setSlowClock adapts the slow clock to what is open and to the reads bucket.
func (w *Watcher) setSlowClock(now time.Time) {
	rate := float64(quota.Reads.DefaultLimit()) // until the service reports its limit
	for _, b := range w.store.buckets(now) {
		if b.Class == quota.Reads && b.Limit > 0 && b.Window > 0 {
			rate = min(rate, float64(b.Limit)/b.Window.Seconds())
		}
	}
	reads := look(w.store, w.store.intents.closing) + (len(w.store.openShipments())+shipmentsPerList-1)/shipmentsPerList
	slow := slowSpan(w.cfg.Poll, reads, rate)
	w.mu.Lock()
	w.slow = slow
	w.mu.Unlock()
}

// slot returns the first time, not before t, at which shipments are read together.
func slot(t time.Time, poll time.Duration) time.Time {
	at := t.Truncate(slotPolls * poll)
	if at.Before(t) {
		at = at.Add(slotPolls * poll)
	}
	return at
}
