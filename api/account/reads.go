package account

import "time"

// ReadCounters relate reads to what they found.
type ReadCounters struct {
	Total        int `json:"total"`                // answered reads of intents and shipments; a list of shipments counts once
	Reconciled   int `json:"reconciled,omitempty"` // of them, those that nothing but time called for, to be sure that no event was lost
	Failed       int `json:"failed,omitempty"`     // reads that failed
	Behind       int `json:"behind,omitempty"`     // reads that were behind what an event had proven
	StateChanges int `json:"stateChanges"`         // changes of an intent's state or a shipment's status that became known
}

// PerStateChange is how many reads one known change has cost; 0 before the first.
// Reads to be sure are left out: they follow the clock, not the changes.
func (c ReadCounters) PerStateChange() float64 {
	if c.StateChanges == 0 {
		return 0
	}
	return float64(c.Total-c.Reconciled) / float64(c.StateChanges)
}

// readBook counts reads.
type readBook struct {
	ReadCounters
	last time.Time // when the newest read was answered; zero when none was
}

func (b *readBook) answered(now time.Time) {
	b.Total++
	b.last = now
}
