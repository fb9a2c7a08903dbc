package api

import (
	"bytes"
	"cmp"
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

// Tracking says where the parcel can be followed. Any part may be empty.
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
	f := fieldsOf(object)
	shipment := Shipment{
		ID:                 idOf(f["id"]),
		IntentID:           idOf(f["checkoutIntentId"]),
		MarketplaceOrderID: textOrNumber(f["marketplaceOrderId"]),
		ExternalID:         textOrNumber(f["externalId"]),
		Status:             ShipmentStatus(wordOf(f["status"])),
		CreatedAt:          timeOf(f["createdAt"]),
		UpdatedAt:          timeOf(f["updatedAt"]),
		ShippedAt:          timeOf(f["shippedAt"]),
		DeliveredAt:        timeOf(f["deliveredAt"]),
		Tracking:           decodeTracking(f["tracking"]),
		TrackingEvents:     listOf(f["trackingEvents"], decodeTrackingEvent),
		Raw:                bytes.Clone(body),
		Response:           of,
	}
	if shipment.ID == "" {
		return Shipment{}, errors.New("decode shipment: id is missing or empty")
	}
	return shipment, nil
}

func decodeTracking(v gjson.Result) *Tracking {
	if !v.IsObject() {
		return nil
	}
	f := fieldsOf(v)
	return &Tracking{
		Carrier: textOf(f["carrierName"]), Number: textOrNumber(f["number"]), URL: textOf(f["url"]),
		Estimated: cmp.Or(timeOf(fieldsOf(f["deliveryDate"])["estimated"]), timeOf(f["estimatedDeliveryDate"])),
	}
}

func decodeTrackingEvent(v gjson.Result) TrackingEvent {
	f := fieldsOf(v)
	location := fieldsOf(f["location"])
	return TrackingEvent{
		Status: ShipmentStatus(wordOf(f["status"])), Description: textOf(f["description"]), At: decodeTimestamp(f["timestamp"]),
		City: textOf(location["city"]), Province: textOf(location["province"]), Country: textOf(location["country"]),
	}
}

// decodeTimestamp reads {utc, local}, either alone, or a plain time.
func decodeTimestamp(v gjson.Result) time.Time {
	f := fieldsOf(v)
	return cmp.Or(timeOf(v), timeOf(f["utc"]), timeOf(f["local"]))
}
