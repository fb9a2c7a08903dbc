package account

import (
	"time"

	"tillwatch/api/quota"
)

// A live feed reports every change, unless an event is lost on its way to the relay.
// So what is open is read again on a slow clock: placing and awaiting intents one by
// one, shipments many in one list. Shipments of which no event came at all are found
// on the newest page of the service's list.
const (
	slowPolls = 16 // poll intervals between two reads of the same: with what they wait for, less than ten minutes
	slotPolls = 4  // poll intervals in which the reads of shipments fall together

	slowShare    = 0.01 // of the reads bucket: the slow clock goes slower where it would spend more
	presumedRate = 10   // reads a second, until the service says (contract, Limits)
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
	reads := look(w.store, w.store.intents.closing) + (len(w.store.openShipments())+shipmentsPerList-1)/shipmentsPerList
	slow := slowSpan(w.cfg.Poll, reads, rate)
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
