package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// Memory is what only the next run of tillwatch needs, besides what the picture shows.
type Memory struct {
	Counted   map[minute][]uint64                 `json:"counted,omitempty"`   // hashes of the counted observations, by when they became known
	Elsewhere int                                 `json:"elsewhere,omitempty"` // of the last confirms, others' minus our own
	Confirms  []time.Duration                     `json:"confirms,omitempty"`  // from offer to others' confirms, the newest last
	Stays     map[api.IntentState][]time.Duration `json:"stays,omitempty"`     // oldest first
	DayMost   dayMost                             `json:"dayMost,omitzero"`
	Refused   dayRefusal                          `json:"dayRefused,omitzero"`
	Answers   []answersMemory                     `json:"answers,omitempty"`
	Intents   map[api.ID]intentMemory             `json:"intents,omitempty"`   // of the intents on the same line
	Shipments map[api.ID]shipmentMemory           `json:"shipments,omitempty"` // of the shipments on the same line
}

// intentMemory is what the store remembers of an intent but does not show.
type intentMemory struct {
	Floor      int      `json:"floor"`                // the highest state rank proven
	Newest     instant  `json:"newest,omitempty"`     // when the newest read was sent
	LastEvent  instant  `json:"lastEvent,omitempty"`  // the newest createdAt of an event
	Known      instant  `json:"known,omitempty"`      // the earliest time at which it is known to have existed
	Seen       eventSet `json:"seen,omitempty"`       // the events seen
	StateReads int      `json:"stateReads,omitempty"` // answered reads since it entered its state
	Behind     int      `json:"behind,omitempty"`     // consecutive reads that were behind what an event proved
	NotFound   int      `json:"notFound,omitempty"`   // consecutive reads that were answered 404
	Listed     bool     `json:"listed,omitempty"`     // its shipments have been listed
	Observed   bool     `json:"observed,omitempty"`   // it became known by an observation
}

type shipmentMemory struct {
	Newest    instant `json:"newest,omitempty"`
	LastEvent instant `json:"lastEvent,omitempty"`
	NotFound  int     `json:"notFound,omitempty"`
}

// ofIntent returns what is remembered of an intent; if nothing is, only when it was read.
func (m *Memory) ofIntent(in *IntentDetail) intentMemory {
	if m == nil || m.Intents == nil {
		return intentMemory{Newest: instantOf(in.ReadAt)}
	}
	return m.Intents[in.ID]
}

// ofShipment returns what is remembered of a shipment.
func (m *Memory) ofShipment(sh *Shipment) shipmentMemory {
	if m == nil {
		return shipmentMemory{}
	}
	return m.Shipments[sh.ID]
}

func (b *basis) memory() intentMemory {
	return intentMemory{
		Floor: b.floor, Newest: instantOf(b.newest), LastEvent: instantOf(b.lastEvent), Known: instantOf(b.known), Seen: b.seen,
		StateReads: b.reads, Behind: b.behind, NotFound: b.missing, Listed: b.listed, Observed: b.observed,
	}
}

// memory returns what the next run needs of the account as a whole.
func (s *Store) memory(now time.Time) *Memory {
	m := &Memory{
		Elsewhere: s.intents.confirms.balance, Confirms: s.intents.confirms.delays, Stays: map[api.IntentState][]time.Duration{},
		Counted: s.spenders.counted.memory(now), DayMost: s.intents.day.most, Refused: s.intents.day.refused,
		Answers: s.spenders.answers(),
	}
	for state, history := range s.intents.pace {
		m.Stays[state] = slices.Clone(history.stays)
	}
	return m
}

func (s *Store) recallMemory(m *Memory, now time.Time) {
	s.intents.day.most = m.DayMost
	s.spenders.counted.recall(m.Counted, now)
	if m.Refused.At.Before(now) {
		s.intents.day.refused = m.Refused
	}
	s.intents.confirms.balance = min(max(m.Elsewhere, -confirmMemory), confirmMemory)
	for _, delay := range m.Confirms {
		s.intents.confirms.add(min(max(delay, 0), neverConfirmed))
	}
	for state, stays := range m.Stays {
		for _, stay := range stays {
			s.intents.pace.recordStay(state, stay)
		}
	}
}
