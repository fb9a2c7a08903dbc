package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// Pace is how long intents of this account stayed in a state.
type Pace struct {
	Count int           `json:"count"` // how many stays it is made from; of a summary at most the last 256
	P50   time.Duration `json:"p50Ns"`
	P95   time.Duration `json:"p95Ns"`
}

// enoughStays is how many stays it takes until a pace says something.
const enoughStays = 8

// Tells reports whether there were enough stays to say something.
func (p Pace) Tells() bool { return p.Count >= enoughStays }

// Slow reports whether a stay is longer than 95 % of those before it.
func (p Pace) Slow(stay time.Duration) bool { return p.Tells() && stay > p.P95 }

// muchSlower is by how much a percentile must be longer to say that something has
// become slower.
const muchSlower = 1.5

// Slower reports whether stays have become much longer than usual: half of them or the
// longest, where there are enough of both.
func (p Pace) Slower(usual Pace) bool {
	much := func(now, before time.Duration) bool { return float64(now) > muchSlower*float64(before) }
	return p.Tells() && usual.Tells() && (much(p.P50, usual.P50) || much(p.P95, usual.P95))
}

// paceHistory keeps the newest stays in a state.
type paceHistory struct {
	stays []time.Duration // oldest first
	pace  Pace            // of the stays; without a count until it is worked out
}

// keptStays is how many stays a pace is made from, at most.
const keptStays = 256

func (h *paceHistory) add(stay time.Duration) {
	h.stays = newest(append(h.stays, stay), keptStays)
	h.pace = Pace{}
}

func (h *paceHistory) get() Pace {
	if h.pace.Count != len(h.stays) {
		h.pace = paceOf(slices.Clone(h.stays))
	}
	return h.pace
}

// paceOf is the pace of stays, which it sorts.
func paceOf(stays []time.Duration) Pace {
	if len(stays) == 0 {
		return Pace{}
	}
	slices.Sort(stays)
	return Pace{Count: len(stays), P50: quantile(stays, 0.50), P95: quantile(stays, 0.95)}
}

// quantile is the nearest rank of sorted, which is not empty.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// paces are how long intents stayed, by state.
type paces map[api.IntentState]*paceHistory

func (p paces) recordStay(state api.IntentState, stay time.Duration) {
	if !state.Known() || state.Terminal() || stay <= 0 {
		return
	}
	if p[state] == nil {
		p[state] = &paceHistory{}
	}
	p[state].add(stay)
}

func (p paces) all() map[api.IntentState]Pace {
	all := make(map[api.IntentState]Pace, len(p))
	for state, h := range p {
		all[state] = h.get()
	}
	return all
}

// usual is the 95th percentile of stays in a state, once there are enough.
func (p paces) usual(state api.IntentState) time.Duration {
	if h := p[state]; h != nil && len(h.stays) >= enoughStays {
		return h.get().P95
	}
	return 0
}

const briefPlacing = 15 * time.Second // while the account has no history of it

// placing is how long an order is mostly placed.
func (p paces) placing() time.Duration {
	if h := p[api.PlacingOrder]; h != nil {
		return max(h.get().P50, time.Second)
	}
	return briefPlacing
}
