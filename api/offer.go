package api

import (
	"cmp"
	"math/big"
	"slices"
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

// Option is the shipping option that the service selected: only its id if it is not listed, zero for none.
func (o *Offer) Option() ShippingOption {
	if listed := o.Selected(); listed != nil {
		return *listed
	}
	return ShippingOption{ID: o.SelectedOptionID}
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
	Amount *Money // nil while unknown
	Taken  bool   // it is taken off the others
	Odd    bool   // no part that the service names: what the others leave of the total
	Why    string // why the amount is unknown
}

// Parts are the amounts that the total is made of, as far as they are there, always in the same order. If they do not
// add up to it, the last one is what they leave of it.
func (c Cost) Parts() []CostPart {
	parts := []CostPart{
		{Name: "Subtotal", Amount: c.Subtotal}, {Name: "Shipping", Amount: c.Shipping}, {Name: "Tax", Amount: c.Tax},
		{Name: "Discount", Amount: c.Discount, Taken: true}, {Name: "Surcharge", Amount: c.Surcharge},
	}
	parts = slices.DeleteFunc(parts, func(p CostPart) bool { return p.Amount == nil })
	if c.Total == nil || len(parts) == 0 {
		return parts
	}
	other := CostPart{Name: "Other", Odd: true}
	rest := big.NewInt(c.Total.Subunits)
	for _, p := range parts {
		if p.Amount.Currency != c.Total.Currency {
			other.Why = "several currencies"
		}
		amount := big.NewInt(p.Amount.Subunits)
		if p.Taken {
			amount.Neg(amount.Abs(amount))
		}
		rest.Sub(rest, amount)
	}
	switch {
	case other.Why != "":
	case !rest.IsInt64():
		other.Why = "too large"
	case rest.Sign() == 0:
		return parts
	default:
		other.Amount = &Money{Currency: c.Total.Currency, Subunits: rest.Int64()}
	}
	return append(parts, other)
}

// Signed is the amount for people, with a minus where it is taken off.
func (p CostPart) Signed() string {
	if p.Amount == nil {
		return "unknown: " + p.Why
	}
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
