package api

import (
	"encoding/json"
	"time"
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
	ID                 ID
	IntentID           ID
	MarketplaceOrderID Text
	ExternalID         Text
	Status             ShipmentStatus
	CreatedAt          time.Time
	UpdatedAt          time.Time
	ShippedAt          time.Time
	DeliveredAt        time.Time
	Tracking           *Tracking
	TrackingEvents     []TrackingEvent
	Raw                json.RawMessage
}

// Tracking tells where the parcel can be followed. Any part may be empty.
type Tracking struct {
	Carrier   Text
	Number    Text
	URL       Text
	Estimated time.Time // zero when absent
}

// TrackingEvent is one scan of the parcel.
type TrackingEvent struct {
	Status      ShipmentStatus
	Description Text
	City        Text
	Province    Text
	Country     Text
	At          time.Time // zero when absent
}

// DecodeShipment reads a shipment leniently.
func DecodeShipment(body []byte) (Shipment, error) { panic("unwritten") }
