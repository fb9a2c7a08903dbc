package api

import (
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

// ShippingOption is one way of shipping. The client does not choose it.
type ShippingOption struct {
	ID               Text      `json:"id,omitempty"`
	Cost             *Money    `json:"cost,omitempty"`
	Discount         *Money    `json:"discount,omitempty"`
	EarliestDelivery time.Time `json:"earliestDelivery,omitzero"` // zero when absent
	LatestDelivery   time.Time `json:"latestDelivery,omitzero"`   // zero when absent
}

func decodeOffer(v gjson.Result) *Offer {
	if !v.IsObject() {
		return nil
	}
	offer := new(Offer)
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "product":
			if v.IsObject() {
				offer.ProductTitle = textOf(v.Get("title"))
			}
		case "cost":
			offer.Cost = decodeCost(v)
		case "shipping":
			offer.decodeShipping(v)
		case "appliedPromoCodes":
			offer.AppliedPromoCodes = textsOf(v)
		case "commission":
			offer.Commission = decodeCommission(v)
		}
	})
	return offer
}

func decodeCost(v gjson.Result) Cost {
	var cost Cost
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "subtotal":
			cost.Subtotal = decodeMoney(v)
		case "shipping":
			cost.Shipping = decodeMoney(v)
		case "tax":
			cost.Tax = decodeMoney(v)
		case "discount":
			cost.Discount = decodeMoney(v)
		case "surcharge":
			cost.Surcharge = decodeMoney(v)
		case "total":
			cost.Total = decodeMoney(v)
		}
	})
	return cost
}

func (o *Offer) decodeShipping(v gjson.Result) {
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "selectedOptionId":
			o.SelectedOptionID = textOrNumber(v)
		case "availableOptions":
			o.ShippingOptions = nil
			eachItem(v, func(v gjson.Result) {
				if v.IsObject() {
					o.ShippingOptions = append(o.ShippingOptions, decodeShippingOption(v))
				}
			})
		}
	})
}

func decodeShippingOption(v gjson.Result) ShippingOption {
	var option ShippingOption
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "id":
			option.ID = textOrNumber(v)
		case "cost":
			option.Cost = decodeMoney(v)
		case "discount":
			option.Discount = decodeMoney(v)
		case "deliveryEstimate":
			eachField(v, func(key string, v gjson.Result) {
				switch key {
				case "earliest":
					option.EarliestDelivery = timeOf(v)
				case "latest":
					option.LatestDelivery = timeOf(v)
				}
			})
		}
	})
	return option
}

func decodeCommission(v gjson.Result) *Commission {
	if !v.IsObject() {
		return nil
	}
	amount := decodeMoney(v.Get("amount"))
	if amount == nil {
		return nil
	}
	return &Commission{Amount: *amount, Estimate: v.Get("estimate").Type == gjson.True}
}
