package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

type shipmentForm struct {
	ID        string          `json:"id"`
	IntentID  string          `json:"intent,omitempty"`
	Product   string          `json:"product,omitempty"`
	Certainty string          `json:"certainty"`
	ReadAt    instant         `json:"readAt,omitzero"`
	Missing   bool            `json:"missing,omitempty"`
	Read      json.RawMessage `json:"read,omitempty"` // the newest, in the contract's form
}

// shipmentBody is a shipment in the contract's form, as far as it is kept. Where
// a parcel was seen is left out: in the end that is where its buyer lives.
type shipmentBody struct {
	ID          string        `json:"id"`
	IntentID    string        `json:"checkoutIntentId,omitempty"`
	OrderID     string        `json:"marketplaceOrderId,omitempty"`
	ExternalID  string        `json:"externalId,omitempty"`
	Status      string        `json:"status,omitempty"`
	CreatedAt   instant       `json:"createdAt,omitzero"`
	UpdatedAt   instant       `json:"updatedAt,omitzero"`
	ShippedAt   instant       `json:"shippedAt,omitzero"`
	DeliveredAt instant       `json:"deliveredAt,omitzero"`
	Tracking    *trackingBody `json:"tracking,omitempty"`
	Scans       []scanBody    `json:"trackingEvents,omitempty"`
}

type trackingBody struct {
	Carrier  string        `json:"carrierName,omitempty"`
	Number   string        `json:"number,omitempty"`
	Delivery *estimateBody `json:"deliveryDate,omitempty"`
}

type estimateBody struct {
	Estimated instant `json:"estimated,omitzero"`
}

type scanBody struct {
	Status string  `json:"status,omitempty"`
	At     instant `json:"timestamp,omitzero"`
}

func encodeShipment(s *account.Shipment) (json.RawMessage, error) {
	form := shipmentForm{
		ID: string(s.ID), IntentID: string(s.IntentID), Product: maskText(string(s.Product)),
		Certainty: certainties.of(int(s.Certainty)), ReadAt: instant(s.ReadAt), Missing: s.Missing,
	}
	if l := s.Latest; l != nil {
		body := shipmentBody{
			ID: string(l.ID), IntentID: string(l.IntentID), OrderID: string(l.MarketplaceOrderID), ExternalID: string(l.ExternalID),
			Status: string(l.Status), CreatedAt: instant(l.CreatedAt), UpdatedAt: instant(l.UpdatedAt),
			ShippedAt: instant(l.ShippedAt), DeliveredAt: instant(l.DeliveredAt),
		}
		if t := l.Tracking; t != nil {
			body.Tracking = &trackingBody{Carrier: string(t.Carrier), Number: maskNumber(string(t.Number))}
			if !t.Estimated.IsZero() {
				body.Tracking.Delivery = &estimateBody{instant(t.Estimated)}
			}
		}
		for _, e := range l.TrackingEvents {
			body.Scans = append(body.Scans, scanBody{string(e.Status), instant(e.At)})
		}
		read, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding a shipment: %w", err)
		}
		form.Read = read
	}
	return json.Marshal(form)
}

func decodeShipment(raw json.RawMessage) (*account.Shipment, error) {
	var form shipmentForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("decoding a shipment: %w", err)
	}
	s := &account.Shipment{
		ID: api.ScrubID(form.ID), IntentID: api.ScrubID(form.IntentID), Product: api.Scrub(form.Product),
		Certainty: account.Certainty(certainties.place(form.Certainty)), ReadAt: time.Time(form.ReadAt), Missing: form.Missing,
	}
	if s.ID == "" {
		return nil, errors.New("a shipment without id")
	}
	if len(form.Read) > 0 {
		read, err := api.DecodeShipment(form.Read)
		if err != nil {
			return nil, err
		}
		s.Latest = &read
	}
	return s, nil
}

type eventForm struct {
	Seq        int64           `json:"seq"`
	Product    string          `json:"product,omitempty"`
	Received   instant         `json:"received,omitzero"`
	Origin     string          `json:"origin,omitempty"`
	Duplicates int             `json:"duplicates,omitempty"`
	Late       bool            `json:"late,omitempty"`
	Status     string          `json:"status,omitempty"` // of the shipment, where an update led to it
	Body       json.RawMessage `json:"body"`             // in the contract's form
}

type eventBody struct {
	ID        string     `json:"id"`
	Object    string     `json:"object"`
	Type      string     `json:"type"`
	CreatedAt instant    `json:"createdAt,omitzero"`
	Source    sourceBody `json:"source"`
}

type sourceBody struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func encodeEvent(e *account.Event) (json.RawMessage, error) {
	body, err := json.Marshal(eventBody{string(e.ID), "event", string(e.Type), instant(e.CreatedAt), sourceBody{string(e.SourceType), string(e.SourceID)}})
	if err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	return json.Marshal(eventForm{
		Seq: e.Seq, Product: maskText(string(e.Product)), Received: instant(e.Received), Origin: e.Origin,
		Duplicates: e.Duplicates, Late: e.Late, Status: string(e.Status), Body: body,
	})
}

func decodeEvent(raw json.RawMessage) (*account.Event, error) {
	var form eventForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("decoding an event: %w", err)
	}
	body, err := api.DecodeEvent(form.Body)
	if err != nil {
		return nil, err
	}
	return &account.Event{
		Seq: form.Seq, ID: body.ID, Type: body.Type, SourceType: body.Source.Type, SourceID: body.Source.ID,
		Product: api.Scrub(form.Product), CreatedAt: body.CreatedAt, Received: time.Time(form.Received),
		Origin: string(api.Scrub(form.Origin)), Duplicates: form.Duplicates, Late: form.Late, Status: api.ShipmentStatus(api.Scrub(form.Status)), Raw: body.Raw,
	}, nil
}

var priorities = words{"person", "hint", "timer", "reconcile"}

type requestForm struct {
	Method    string  `json:"method"`
	Path      string  `json:"path"`
	Class     string  `json:"class"`
	Priority  string  `json:"priority"`
	Attempt   int     `json:"attempt,omitempty"`
	Sent      instant `json:"sent,omitzero"`
	Waited    int64   `json:"waitedNs,omitempty"`
	Latency   int64   `json:"latencyNs,omitempty"`
	Status    int     `json:"status,omitempty"`
	RequestID string  `json:"requestId,omitempty"`
	Err       string  `json:"error,omitempty"`
}

func encodeRequest(e *api.Exchange) (json.RawMessage, error) {
	return json.Marshal(requestForm{
		Method: e.Method, Path: maskText(e.Path), Class: string(e.Class), Priority: priorities.of(int(e.Priority)), Attempt: e.Attempt,
		Sent: instant(e.Sent), Waited: int64(e.Waited), Latency: int64(e.Latency), Status: e.Status,
		RequestID: string(e.RequestID), Err: errorText(e.Err),
	})
}

func decodeRequest(raw json.RawMessage) (api.Exchange, error) {
	var form requestForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return api.Exchange{}, fmt.Errorf("decoding a request: %w", err)
	}
	return api.Exchange{
		Method: string(api.Scrub(form.Method)), Path: string(api.Scrub(form.Path)), Class: quota.Class(api.Scrub(form.Class)),
		Priority: quota.Priority(priorities.place(form.Priority)), Attempt: form.Attempt, Sent: time.Time(form.Sent),
		Waited: time.Duration(form.Waited), Latency: time.Duration(form.Latency), Status: form.Status,
		RequestID: api.Scrub(form.RequestID), Err: errorOf(form.Err),
	}, nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return maskText(string(api.Scrub(err.Error())))
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(string(api.Scrub(text)))
}
