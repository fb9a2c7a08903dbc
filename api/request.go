package api

import "encoding/json"

// CreateIntent is the body of the two calls that create an intent. Optional
// parts are left out when zero.
type CreateIntent struct {
	ProductURL        string
	Quantity          int
	Buyer             Buyer
	ReferenceID       string
	PromoCodes        []string
	VariantSelections []VariantSelection
	Payment           *PaymentMethod
}

// ConfirmIntent is the body of a confirm. A zero body sends {}; the fields that
// the service wants there are not shown by the contract, so Raw, when set, is
// sent as it is.
type ConfirmIntent struct {
	Payment *PaymentMethod
	Raw     json.RawMessage
}

// ShipmentQuery filters the list of shipments (contract: after, before, ids).
type ShipmentQuery struct {
	After, Before string
	IDs           []ID
	Statuses      []ShipmentStatus
	Limit         int // of one page, 1 to 100; 0 leaves it to the service
}
