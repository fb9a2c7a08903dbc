package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
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

// EventTypes lists the event types of the contract.
func EventTypes() []EventType {
	return []EventType{OfferRetrieved, OfferFailed, IntentCompleted, OrderFailed, ShipmentCreated, ShipmentUpdated, ProductUpdated, ProductRemoved, VerificationChallenge}
}

// Matches reports whether the type is the one that a pattern names, or one of those whose
// beginning it names with a * behind, as in "shipment.*".
func (t EventType) Matches(pattern string) bool {
	beginning, wild := strings.CutSuffix(pattern, "*")
	return string(t) == pattern || wild && strings.HasPrefix(string(t), beginning)
}

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
	ID   ID // by which the object is read; a product's is none for a lookup, which takes a URL
	Type SourceType
}

// Event is a hint that something changed (contract, Event). Most events are
// thin: the truth is read from the source.
type Event struct {
	ID        ID
	Type      EventType
	CreatedAt time.Time // zero when it cannot be read
	Source    EventSource
	Data      json.RawMessage // nil when absent
	Raw       json.RawMessage // the exact body
	Response  Response        `json:"-"` // the answer it was read from
}

// DecodeEvent reads an event. The id, the type and the source's id and type are
// required; a createdAt that cannot be read is zero. Unknown types survive.
func DecodeEvent(body []byte) (Event, error) { return decodeEvent(body, Response{}) }

func decodeEvent(body []byte, of Response) (Event, error) {
	object, err := parseObject("event", body)
	if err != nil {
		return Event{}, err
	}
	f := fieldsOf(object)
	source := fieldsOf(f["source"])
	event := Event{
		ID: stringID(f["id"]), Type: EventType(wordOf(f["type"])), CreatedAt: timeOf(f["createdAt"]),
		Source: EventSource{ID: stringID(source["id"]), Type: SourceType(wordOf(source["type"]))},
		Raw:    bytes.Clone(body), Response: of,
	}
	if data := f["data"]; data.Type != gjson.Null {
		event.Data = json.RawMessage(data.Raw)
	}
	if err := event.check(); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	return event, nil
}

// stringID reads an identifier where the contract wants a string and nothing
// else.
func stringID(v gjson.Result) ID {
	if v.Type != gjson.String {
		return ""
	}
	return idOf(v)
}

func (e *Event) check() error {
	const missing = " is missing, empty or no string"
	switch {
	case e.ID == "":
		return errors.New("id" + missing)
	case e.Type == "":
		return errors.New("type" + missing)
	case e.Source.ID == "":
		return errors.New("source.id" + missing)
	case e.Source.Type == "":
		return errors.New("source.type" + missing)
	}
	return nil
}
