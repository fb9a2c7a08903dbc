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
)

// Subject is the thing under a cursor, by its identity.
type Subject struct {
	Kind Kind
	ID   api.ID
}
