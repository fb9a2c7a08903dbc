package api

import (
	"encoding/json"
	"time"
)

// EventType is the type of an event; an open set of which the contract lists
// nine.
type EventType string

// The event types of the contract.
const (
	OfferRetrieved        EventType = "checkout_intent.offer_retrieved"
	OfferFailed           EventType = "checkout_intent.offer_failed"
	IntentCompleted       EventType = "checkout_intent.completed"
	OrderFailed           EventType = "checkout_intent.order_failed"
	ShipmentCreated       EventType = "shipment.created"
	ShipmentUpdated       EventType = "shipment.updated"
	ProductUpdated        EventType = "product.updated"
	ProductRemoved        EventType = "product.removed"
	VerificationChallenge EventType = "webhook_endpoint.verification_challenge"
)

// ProvenState is the intent state that an event of this type proves, if any
// (contract, States and transitions). offer_failed proves none: the state that
// follows it is not shown.
func (t EventType) ProvenState() (IntentState, bool) {
	switch t {
	case OfferRetrieved:
		return AwaitingConfirmation, true
	case IntentCompleted:
		return Completed, true
	case OrderFailed:
		return Failed, true
	}
	return "", false
}

// SourceType is the kind of object that an event speaks of; an open set.
type SourceType string

// The source types of the contract.
const (
	SourceIntent          SourceType = "checkout_intent"
	SourceShipment        SourceType = "shipment"
	SourceProduct         SourceType = "product"
	SourceWebhookEndpoint SourceType = "webhook_endpoint"
)

// EventSource points at the object that an event speaks of.
type EventSource struct {
	ID   ID
	Type SourceType
}

// Event is a hint that something changed (contract, Event). Most events are
// thin: the truth is read from the source.
type Event struct {
	ID        ID
	Type      EventType
	CreatedAt time.Time
	Source    EventSource
	Data      json.RawMessage // nil when absent
	Raw       json.RawMessage // the exact body
}

// DecodeEvent reads an event. The id, the type and the source's id and type are
// required; a createdAt that cannot be read is zero. Unknown types survive.
func DecodeEvent(body []byte) (Event, error) { panic("unwritten") }
