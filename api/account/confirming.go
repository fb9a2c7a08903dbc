package account

import (
	"math"
	"slices"
	"time"

	"tillwatch/api"
)

// confirmHistory is how this account's intents are confirmed: by whom, and how
// long after their offer where it was somebody else. No event reports a confirm.
type confirmHistory struct {
	balance int             // of the last confirms, how many more were somebody else's
	delays  []time.Duration // of somebody else's, the newest last
}

const (
	confirmMemory  = 8  // bounds the balance
	keptConfirms   = 16 // few, so that it follows what changes
	neverConfirmed = time.Duration(math.MaxInt64 / 2)
	afterConfirm   = time.Second / 4 // how long after a likely confirm a look is taken
)

// learn learns from an intent that leaves awaiting confirmation, since when it was
// in that state, for to, at a moment that is known exactly where an event reports it.
// It was last read as awaiting at last.
func (h *confirmHistory) learn(since time.Time, to api.IntentState, how Learnt, last, at time.Time, pace paces) {
	least := max(last.Sub(since), 0)
	switch {
	case how == ByConfirm:
		h.balance = max(h.balance-1, -confirmMemory)
	case how == ByRead && to == api.Failed:
		h.add(neverConfirmed)
	case how == ByEvent:
		h.balance = min(h.balance+1, confirmMemory)
		h.add(max(at.Sub(since)-pace.placing(), least))
	case how == ByProxy && to == api.PlacingOrder:
		h.balance = min(h.balance+1, confirmMemory)
		h.add(max(at.Sub(since), least))
	case to == api.PlacingOrder || to == api.Completed:
		h.balance = min(h.balance+1, confirmMemory)
		// It was confirmed at some time before the look that found it. To look
		// somewhat earlier the next time finds out, with little to lose.
		h.add(least + max(at.Sub(since)-least, 0)*9/10)
	}
}

func (h *confirmHistory) add(delay time.Duration) {
	// What was handed out shares the array, so it is replaced.
	from := max(len(h.delays)+1-keptConfirms, 0)
	h.delays = append(slices.Clone(h.delays[from:]), delay)
}

// confirms says when a look at an awaiting intent is worth a read: when it finds
// news three times out of four.
type confirms struct {
	delays  []time.Duration
	placing time.Duration // how long there is something to be found
}

// next is how long after the offer the next look is worth its read, of an intent
// that still awaited confirmation after so long.
func (c confirms) next(after time.Duration) (look time.Duration, worth bool) {
	for _, at := range slices.Sorted(slices.Values(c.delays)) {
		if at <= after || at == neverConfirmed {
			continue
		}
		found, open := 0, 0
		for _, delay := range c.delays {
			if delay <= after || delay+c.placing <= at {
				continue
			}
			open++
			if delay <= at {
				found++
			}
		}
		if 4*found >= 3*open {
			return at + afterConfirm, true
		}
	}
	return 0, false
}
