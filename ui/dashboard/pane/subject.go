package pane

import "tillwatch/api"

// Kind is what a subject is.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	OfIntent
	OfShipment
	OfEvent
	OfRequest
	OfOrder // by its reference
	OfDelivery
)

// Subject is the thing under a cursor, by its identity.
type Subject struct {
	Kind      Kind
	ID        api.ID   // "" of an order
	Reference api.Text // of an order; "" of all else
}

// Name is the identity as a person copies it.
func (s Subject) Name() string {
	if s.Kind == OfOrder {
		return string(s.Reference)
	}
	return string(s.ID)
}
