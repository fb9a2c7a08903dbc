package pane

import "tillwatch/api"

// Kind is the kind of a subject.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	OfIntent
	OfShipment
	OfEvent
	OfRequest
	OfOrder // by its reference
)

// Subject identifies the thing under a cursor.
type Subject struct {
	Kind      Kind
	ID        api.ID   // "" for an order
	Reference api.Text // of an order; "" otherwise
}

// Name returns the identity for copying.
func (s Subject) Name() string {
	if s.Kind == OfOrder {
		return string(s.Reference)
	}
	return string(s.ID)
}
