package command

import (
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// notRead counts intents of which only the id is known.
const notRead = "not_read"

// known is a count, or nil if it is 0 and something is missing.
func known(n int, all bool) *int {
	if n == 0 && !all {
		return nil
	}
	return &n
}

// intentCounts counts intents by state. While something is missing, each state may
// have more.
func intentCounts(s account.Summary, settled bool) map[string]*int {
	counts, other := map[string]*int{}, 0
	for _, state := range api.IntentStates() {
		counts[string(state)] = known(s.Intents[state], settled)
	}
	for state, n := range s.Intents {
		if !state.Known() {
			other += n
		}
	}
	counts["other"], counts[notRead] = known(other, settled), known(s.NotRead, settled)
	return counts
}

func shipmentCounts(s account.Summary, settled bool) map[api.ShipmentStatus]*int {
	counts := map[api.ShipmentStatus]*int{}
	for _, status := range api.ShipmentStatuses() {
		counts[status] = known(0, settled)
	}
	for status, n := range s.Shipments {
		if status == "" {
			status = notRead
		}
		counts[status] = known(n, settled)
	}
	return counts
}

// countsText lists counts: always these, and others if they are not 0.
func countsText[K ~string](counts map[K]*int, always, others []K) string {
	var parts []string
	add := func(key K) {
		name := wording.Name(string(key))
		if key == notRead {
			name = "of unknown state"
		}
		parts = append(parts, wording.Count(*counts[key])+" "+name)
	}
	unknown := false
	for _, key := range always {
		if unknown = unknown || counts[key] == nil; counts[key] != nil {
			add(key)
		}
	}
	for _, key := range others {
		if unknown = unknown || counts[key] == nil; counts[key] != nil && *counts[key] > 0 {
			add(key)
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case unknown:
		return "unknown"
	}
	return "none"
}

// missingReport is a part of the account that could not be read in time.
type missingReport struct {
	What  account.Part `json:"what"`
	Count *int         `json:"count"` // intents, shipments, events or entries of a list that cannot be read; null for other parts
	Why   string       `json:"why"`
}

// missing says what is missing, in a sentence.
func (r snapshot) missing() string {
	var parts []string
	for _, m := range r.Missing {
		parts = append(parts, m.text())
	}
	return strings.Join(parts, "; ")
}

// whyMissing is the reason if nothing has failed; held says what reads wait for.
func whyMissing(m account.Missing, waited time.Duration, held string) string {
	switch {
	case m.Part == account.PartSource:
		return "there is no list, no relay and no id"
	case m.Part == account.PartEvents:
		return "they were deleted, or the journal was replaced"
	case held != "" && m.Part != account.PartFeed:
		return held
	case m.Final:
		return "only its newest part is read"
	}
	return "that takes longer than " + wording.Age(waited)
}

func (m missingReport) text() string {
	var text string
	switch m.What {
	case account.PartSource:
		return "the service has no list of intents: give --relay-url, --watch-id or --watch-ids"
	case account.PartList:
		if m.Count != nil {
			return wording.Counted(*m.Count, "entry", "entries") + " of the list of intents cannot be read"
		}
		text = "the list of intents was not read to its end"
	case account.PartFeed:
		text = "the relay has not sent all that it holds"
	case account.PartShipmentList:
		text = "the list of shipments was not read"
	case account.PartEvents:
		text = "the relay no longer has events that this picture needs, and the service has no list of intents"
		if m.Count != nil {
			text = "the relay no longer has " + wording.Count(*m.Count) + " of its events, and the service has no list of intents"
		}
		return text
	case account.PartParcels:
		text = wording.Counted(*m.Count, "completed intent is", "completed intents are") + " without a known shipment, which may only be unreported"
	case account.PartIntents:
		text = wording.Counted(*m.Count, "intent is", "intents are") + " not read yet"
	case account.PartShipments:
		text = wording.Counted(*m.Count, "shipment is", "shipments are") + " not read yet"
	}
	if m.Why != "" {
		text += ": " + m.Why
	}
	return text
}

// orUnknown is a number that may be unknown.
func orUnknown[T int | int64](n *T) string {
	if n == nil {
		return "unknown"
	}
	return wording.Count(int(*n))
}
