package api

import "time"

// Offer is what the service found for an intent: its cost and the shipping that
// the service selected. An absent amount is nil: absent is not zero.
type Offer struct {
	ProductTitle      Text // present only with some merchants
	Cost              Cost
	ShippingOptions   []ShippingOption
	SelectedOptionID  Text
	AppliedPromoCodes []Text
}

// Cost breaks an offer's total down.
type Cost struct {
	Subtotal, Shipping, Tax, Discount, Surcharge, Total *Money
}

// ShippingOption is one way of shipping. The client does not choose it.
type ShippingOption struct {
	ID               Text
	Cost             *Money
	Discount         *Money
	EarliestDelivery time.Time // zero when absent
	LatestDelivery   time.Time // zero when absent
}
