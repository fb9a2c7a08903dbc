package api

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Offer is what the service found for an intent: its cost and the shipping that
// the service selected. An absent amount is nil: absent is not zero.
type Offer struct {
	ProductTitle      Text             `json:"productTitle,omitempty"` // present only with some merchants
	Cost              Cost             `json:"cost,omitzero"`
	ShippingOptions   []ShippingOption `json:"shippingOptions,omitempty"`
	SelectedOptionID  Text             `json:"selectedOptionId,omitempty"`
	AppliedPromoCodes []Text           `json:"appliedPromoCodes,omitempty"`
	Commission        *Commission      `json:"commission,omitempty"` // nil when absent
}

// Selected is the shipping option that the service selected, or nil: the option
// that it names may not be listed.
func (o *Offer) Selected() *ShippingOption {
	for i := range o.ShippingOptions {
		if o.SelectedOptionID != "" && o.ShippingOptions[i].ID == o.SelectedOptionID {
			return &o.ShippingOptions[i]
		}
	}
	return nil
}

// Commission is what the seller earns by the order.
type Commission struct {
	Amount   Money `json:"amount,omitzero"`
	Estimate bool  `json:"estimate,omitempty"` // the amount is not final
}

// Cost breaks an offer's total down. A nil part is absent, which is not zero.
type Cost struct {
	Subtotal  *Money `json:"subtotal,omitempty"`
	Shipping  *Money `json:"shipping,omitempty"`
	Tax       *Money `json:"tax,omitempty"`
	Discount  *Money `json:"discount,omitempty"`
	Surcharge *Money `json:"surcharge,omitempty"`
	Total     *Money `json:"total,omitempty"`
}

// CostPart is one of the amounts that a total is made of.
type CostPart struct {
	Name   string // "Subtotal"
	Amount *Money // nil when absent, which is not zero
	Taken  bool   // it is taken off the others
}

// Parts are the amounts that the total is made of, those that are absent among them,
// always in the same order.
func (c Cost) Parts() []CostPart {
	return []CostPart{
		{"Subtotal", c.Subtotal, false}, {"Shipping", c.Shipping, false}, {"Tax", c.Tax, false},
		{"Discount", c.Discount, true}, {"Surcharge", c.Surcharge, false},
	}
}

// Signed is the amount for people, with a minus where it is taken off.
func (p CostPart) Signed() string {
	text := strings.Replace(p.Amount.Readable(), "-", "−", 1)
	if p.Taken && p.Amount.Subunits > 0 {
		return "−" + text
	}
	return text
}

// ShippingOption is one way of shipping. The client does not choose it.
type ShippingOption struct {
	ID               Text      `json:"id,omitempty"`
	Label            Text      `json:"label,omitempty"`           // its name for people; "" when absent
	Cost             *Money    `json:"cost,omitempty"`            // nil when absent
	Discount         *Money    `json:"discount,omitempty"`        // nil when absent
	EarliestDelivery time.Time `json:"earliestDelivery,omitzero"` // zero when absent
	LatestDelivery   time.Time `json:"latestDelivery,omitzero"`   // zero when absent
}

func decodeOffer(v gjson.Result) *Offer {
	if !v.IsObject() {
		return nil
	}
	f := fieldsOf(v)
	shipping := fieldsOf(f["shipping"])
	return &Offer{
		ProductTitle:      textOf(fieldsOf(f["product"])["title"]),
		Cost:              decodeCost(f["cost"]),
		ShippingOptions:   listOf(shipping["availableOptions"], decodeShippingOption),
		SelectedOptionID:  textOrNumber(shipping["selectedOptionId"]),
		AppliedPromoCodes: textsOf(f["appliedPromoCodes"]),
		Commission:        decodeCommission(f["commission"]),
	}
}

func decodeCost(v gjson.Result) Cost {
	f := fieldsOf(v)
	return Cost{
		Subtotal:  decodeMoney(f["subtotal"]),
		Shipping:  decodeMoney(f["shipping"]),
		Tax:       decodeMoney(f["tax"]),
		Discount:  decodeMoney(f["discount"]),
		Surcharge: decodeMoney(f["surcharge"]),
		Total:     decodeMoney(f["total"]),
	}
}

func decodeShippingOption(v gjson.Result) ShippingOption {
	f := fieldsOf(v)
	estimate := fieldsOf(f["deliveryEstimate"])
	return ShippingOption{
		ID: textOrNumber(f["id"]), Label: cmp.Or(textOf(f["label"]), textOf(f["name"])), Cost: decodeMoney(f["cost"]), Discount: decodeMoney(f["discount"]),
		EarliestDelivery: timeOf(estimate["earliest"]), LatestDelivery: timeOf(estimate["latest"]),
	}
}

func decodeCommission(v gjson.Result) *Commission {
	f := fieldsOf(v)
	amount := decodeMoney(f["amount"])
	if amount == nil {
		return nil
	}
	return &Commission{Amount: *amount, Estimate: f["estimate"].Type == gjson.True}
}
