package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/tidwall/gjson"
)

// ShipmentStatus is the status of a shipment. The contract does not show it;
// these six are the whole public set, and others are kept as they came.
type ShipmentStatus string

// The statuses that public clients have seen, in display order.
const (
	Ordered        ShipmentStatus = "ordered"
	Shipped        ShipmentStatus = "shipped"
	Delayed        ShipmentStatus = "delayed"
	OutForDelivery ShipmentStatus = "out_for_delivery"
	Delivered      ShipmentStatus = "delivered"
	Canceled       ShipmentStatus = "canceled"
)

// ShipmentStatuses lists the statuses in display order.
func ShipmentStatuses() []ShipmentStatus {
	return []ShipmentStatus{Ordered, Shipped, Delayed, OutForDelivery, Delivered, Canceled}
}

// Terminal reports whether no further move can follow.
func (s ShipmentStatus) Terminal() bool { return s == Delivered || s == Canceled }

// Shipment is a parcel of a completed order.
type Shipment struct {
	ID                 ID              `json:"id"`
	IntentID           ID              `json:"checkoutIntentId,omitempty"`   // "" when absent
	MarketplaceOrderID Text            `json:"marketplaceOrderId,omitempty"` // the merchant's id of the order
	ExternalID         Text            `json:"externalId,omitempty"`         // the merchant's id of the shipment; "" before it is shipped
	Status             ShipmentStatus  `json:"status,omitzero"`
	CreatedAt          time.Time       `json:"createdAt,omitzero"` // zero when absent, as all times here
	UpdatedAt          time.Time       `json:"updatedAt,omitzero"`
	ShippedAt          time.Time       `json:"shippedAt,omitzero"`
	DeliveredAt        time.Time       `json:"deliveredAt,omitzero"`
	Tracking           *Tracking       `json:"tracking,omitempty"`       // nil before it is shipped
	TrackingEvents     []TrackingEvent `json:"trackingEvents,omitempty"` // in the order of the answer
	Raw                json.RawMessage `json:"-"`                        // the exact body; draw it through [Masked]
	Response           Response        `json:"-"`                        // the answer it was read from
}

// Tracking tells where the parcel can be followed. Any part may be empty.
type Tracking struct {
	Carrier   Text      `json:"carrierName,omitempty"`
	Number    Text      `json:"number,omitempty"`
	URL       Text      `json:"url,omitempty"`
	Estimated time.Time `json:"estimated,omitzero"` // zero when absent
}

// TrackingEvent is one scan of the parcel.
type TrackingEvent struct {
	Status      ShipmentStatus `json:"status,omitzero"`
	Description Text           `json:"description,omitempty"`
	City        Text           `json:"city,omitempty"`
	Province    Text           `json:"province,omitempty"`
	Country     Text           `json:"country,omitempty"`
	At          time.Time      `json:"timestamp,omitzero"` // zero when absent
}

// DecodeShipment reads a shipment leniently: a JSON object with an id never
// fails, whatever its other fields hold.
func DecodeShipment(body []byte) (Shipment, error) { return decodeShipment(body, Response{}) }

func decodeShipment(body []byte, of Response) (Shipment, error) {
	object, err := parseObject("shipment", body)
	if err != nil {
		return Shipment{}, err
	}
	shipment := Shipment{Raw: bytes.Clone(body), Response: of}
	eachField(object, shipment.decodeField)
	if shipment.ID == "" {
		return Shipment{}, errors.New("decode shipment: id is missing or empty")
	}
	return shipment, nil
}

func (s *Shipment) decodeField(key string, v gjson.Result) {
	switch key {
	case "id":
		s.ID = idOf(v)
	case "checkoutIntentId":
		s.IntentID = idOf(v)
	case "marketplaceOrderId":
		s.MarketplaceOrderID = textOrNumber(v)
	case "externalId":
		s.ExternalID = textOrNumber(v)
	case "status":
		s.Status = ShipmentStatus(textOf(v))
	case "createdAt":
		s.CreatedAt = timeOf(v)
	case "updatedAt":
		s.UpdatedAt = timeOf(v)
	case "shippedAt":
		s.ShippedAt = timeOf(v)
	case "deliveredAt":
		s.DeliveredAt = timeOf(v)
	case "tracking":
		s.Tracking = decodeTracking(v)
	case "trackingEvents":
		s.TrackingEvents = nil
		eachItem(v, func(v gjson.Result) {
			if v.IsObject() {
				s.TrackingEvents = append(s.TrackingEvents, decodeTrackingEvent(v))
			}
		})
	}
}

func decodeTracking(v gjson.Result) *Tracking {
	if !v.IsObject() {
		return nil
	}
	tracking := new(Tracking)
	var older time.Time
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "carrierName":
			tracking.Carrier = textOf(v)
		case "number":
			tracking.Number = textOrNumber(v)
		case "url":
			tracking.URL = textOf(v)
		case "deliveryDate":
			if v.IsObject() {
				tracking.Estimated = timeOf(v.Get("estimated"))
			}
		case "estimatedDeliveryDate":
			older = timeOf(v)
		}
	})
	if tracking.Estimated.IsZero() {
		tracking.Estimated = older
	}
	return tracking
}

func decodeTrackingEvent(v gjson.Result) TrackingEvent {
	var event TrackingEvent
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "status":
			event.Status = ShipmentStatus(textOf(v))
		case "description":
			event.Description = textOf(v)
		case "timestamp":
			event.At = decodeTimestamp(v)
		case "location":
			eachField(v, func(key string, v gjson.Result) {
				switch key {
				case "city":
					event.City = textOf(v)
				case "province":
					event.Province = textOf(v)
				case "country":
					event.Country = textOf(v)
				}
			})
		}
	})
	return event
}

// decodeTimestamp reads {utc, local}, either alone, or a plain time.
func decodeTimestamp(v gjson.Result) time.Time {
	if !v.IsObject() {
		return timeOf(v)
	}
	if t := timeOf(v.Get("utc")); !t.IsZero() {
		return t
	}
	return timeOf(v.Get("local"))
}
