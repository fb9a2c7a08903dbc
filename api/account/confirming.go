package account

import (
	"math"
	"slices"
	"time"

	"tillwatch/api"
)

// confirmHistory is how this account's intents are confirmed: how often by others, and how long after their offer.
// No event reports a confirm.
type confirmHistory struct {
	balance int             // of the last confirms, others' minus our own
	delays  []time.Duration // from offer to others' confirms, the newest last
}

const (
	confirmMemory  = 8  // bounds the balance
	keptConfirms   = 16 // few, so that it follows what changes
	neverConfirmed = time.Duration(math.MaxInt64 / 2)
	afterConfirm   = time.Second / 4 // how long after a likely confirm the intent is read
)

// learn learns from an intent that left awaiting confirmation for the state to. It entered it at since, was last
// read in it at last, and was found in to at at, which is exact if an event reported it.
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
		// It was confirmed some time before the read that found it. Reading somewhat earlier next time finds out when, at
		// little cost.
		h.add(least + max(at.Sub(since)-least, 0)*9/10)
	}
}

func (h *confirmHistory) add(delay time.Duration) {
	// The slice was handed out: replace it, do not append in place.
	from := max(len(h.delays)+1-keptConfirms, 0)
	h.delays = append(slices.Clone(h.delays[from:]), delay)
}

// confirms estimates when a read of an awaiting intent pays: when it finds news three times out of four.
type confirms struct {
	delays  []time.Duration
	placing time.Duration // how long a confirmed intent stays placing
}

// next is how long after its offer to read an intent that still awaited confirmation at after.
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
