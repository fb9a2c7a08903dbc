package account

import "time"

// ReadCounters count reads and what they found.
type ReadCounters struct {
	Total        int `json:"total"`                // answered reads of intents and shipments; a list of shipments counts once
	Reconciled   int `json:"reconciled,omitempty"` // of these, reads that only time called for, to check that no event was lost
	Failed       int `json:"failed,omitempty"`     // reads that failed
	Behind       int `json:"behind,omitempty"`     // reads that were behind what an event proved
	StateChanges int `json:"stateChanges"`         // known changes of an intent's state or a shipment's status
}

// PerStateChange is how many reads one change has cost; 0 before the first. It leaves out reconciling reads: they
// follow the clock.
func (c ReadCounters) PerStateChange() float64 {
	if c.StateChanges == 0 {
		return 0
	}
	return float64(c.Total-c.Reconciled) / float64(c.StateChanges)
}

// readBook counts reads.
type readBook struct {
	ReadCounters
	last time.Time // when the newest read was answered; zero for none
}

func (b *readBook) answered(now time.Time) {
	b.Total++
	b.last = now
}
