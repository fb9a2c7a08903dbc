package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// Pace is how long intents of this account stayed in a state.
type Pace struct {
	Count int           `json:"count"` // how many stays it is computed from; in a summary at most the last 256
	P50   time.Duration `json:"p50Ns"`
	P95   time.Duration `json:"p95Ns"`
}

// enoughStays is how many stays make a pace meaningful.
const enoughStays = 8

// Enough reports whether there were enough stays to be meaningful.
func (p Pace) Enough() bool { return p.Count >= enoughStays }

// Slow reports whether a stay is longer than 95 % of the earlier ones.
func (p Pace) Slow(stay time.Duration) bool { return p.Enough() && stay > p.P95 }

// paceHistory keeps the newest stays in a state.
type paceHistory struct {
	stays []time.Duration // oldest first
	pace  Pace            // of the stays; its Count is 0 until it is computed
}

// keptStays is how many stays a pace is computed from, at most.
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

// paceOf returns the pace of stays. It sorts them.
func paceOf(stays []time.Duration) Pace {
	if len(stays) == 0 {
		return Pace{}
	}
	slices.Sort(stays)
	return Pace{Count: len(stays), P50: quantile(stays, 0.50), P95: quantile(stays, 0.95)}
}

// quantile returns the nearest-rank quantile of sorted, which must not be empty.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// paces is how long intents stayed in each state.
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

// usual returns the 95th percentile of stays in a state; 0 until there are enough.
func (p paces) usual(state api.IntentState) time.Duration {
	if h := p[state]; h != nil && len(h.stays) >= enoughStays {
		return h.get().P95
	}
	return 0
}

const briefPlacing = 15 * time.Second // assumed until the account has a history

// placing returns how long placing an order usually takes.
func (p paces) placing() time.Duration {
	if h := p[api.PlacingOrder]; h != nil {
		return max(h.get().P50, time.Second)
	}
	return briefPlacing
}
