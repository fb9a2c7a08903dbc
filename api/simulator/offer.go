package simulator

import (
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
)

// priceOffer makes the merchant's offer for an intent, or returns the failure that
// prevents it. The service selects the cheapest shipping (contract, What the service
// does).
func (f *fulfilment) priceOffer(in *intent, at time.Time) (*offerWire, *failureWire) {
	m := magicOf(in.ProductURL)
	p := f.catalogue.find(in.ProductURL)
	if failure := unservable(in, p, m); failure != nil {
		return nil, failure
	}
	d := newDice(f.cfg.Seed, diceOffer, in.number)
	subtotal := p.Price * int64(in.Quantity)
	discount, freeShipping, applied := promotions(in, d, subtotal)
	if m.situation == onSale {
		discount += subtotal / 5
	}
	shipping := shippingOptions(p, m, subtotal, freeShipping, in.Quantity, at)
	var carriage int64
	if len(shipping.AvailableOptions) > 0 {
		carriage = shipping.AvailableOptions[0].Cost.AmountSubunits
	}
	var tax int64
	if m.situation != taxExempt {
		tax = ((subtotal-discount)*taxOf(in.Buyer.Province) + 50_000) / 100_000
	}
	total := subtotal - discount + carriage + tax
	if c := in.Constraints; c != nil {
		if c.MaxShippingPrice != nil && carriage > *c.MaxShippingPrice {
			return nil, &failureWire{"constraint_shipping_cost_exceeded", fmt.Sprintf("Shipping costs %d, the maximum is %d", carriage, *c.MaxShippingPrice)}
		}
		if c.MaxTotalPrice != nil && total > *c.MaxTotalPrice {
			return nil, &failureWire{"constraint_total_price_exceeded", fmt.Sprintf("The total is %d, the maximum is %d", total, *c.MaxTotalPrice)}
		}
	}
	return &offerWire{
		Product:           offerProductWire{p.Name},
		Cost:              costWire{Subtotal: usd(subtotal), Discount: usdOrNone(discount), Shipping: usd(carriage), Tax: usd(tax), Total: usd(total)},
		Shipping:          shipping,
		AppliedPromoCodes: applied,
	}, nil
}

// unservable returns what is wrong with the product, its variant or the buyer; nil if
// nothing is. If the URL demands it, a product that is gone or sold out fails the intent
// only while the order is placed.
func unservable(in *intent, p *product, m magic) *failureWire {
	variant, code := p.choose(in.ProductURL, in.VariantSelections)
	switch {
	case p.removed && m.situation == unpublished && !m.placing:
		return failureOf("offer_retrieval_failed")
	case p.removed && !m.placing:
		return failureOf("product_not_found")
	case code != "":
		return failureOf(code)
	case p.availabilityOf(variant) == api.OutOfStock && !m.placing:
		return failureOf("product_out_of_stock")
	}
	if words := p.merchant.refuses(in.Buyer); words != "" {
		return &failureWire{"form_validation_error", words}
	}
	return nil
}

// promotions applies the known promo codes and silently ignores others.
func promotions(in *intent, d dice, subtotal int64) (discount int64, freeShipping bool, applied []string) {
	codes := in.PromoCodes
	if in.DiscoverPromoCodes != nil && *in.DiscoverPromoCodes && d.chance(0.5) {
		codes = append(slices.Clone(codes), "WELCOME10")
	}
	for _, code := range codes {
		switch {
		case slices.Contains(applied, code):
		case code == "WELCOME10":
			discount += subtotal / 10
			applied = append(applied, code)
		case code == "SAVE5" && subtotal >= 2500:
			discount += 500
			applied = append(applied, code)
		case code == "FREE_SHIP-7":
			freeShipping = true
			applied = append(applied, code)
		}
	}
	return discount, freeShipping, applied
}

// shippingOptions lists the merchant's options, the cheapest first and selected.
func shippingOptions(p *product, m magic, subtotal int64, free bool, quantity int, at time.Time) offerShippingWire {
	if p.Digital || m.situation == digital {
		return offerShippingWire{AvailableOptions: []shippingOptionWire{}}
	}
	estimate := func(from, to int) *estimateWire { return estimateOf(at, from, to) }
	standard := p.merchant.Shipping
	if p.merchant.FreeFrom > 0 && subtotal >= p.merchant.FreeFrom || free {
		standard = 0
	}
	if m.situation == heavyweight || m.situation == highValue {
		return offerShippingWire{[]shippingOptionWire{{"freight", usd(24_999), estimate(6, 12)}}, "freight"}
	}
	if p.Heavy && !free {
		standard += 1500 * int64(max(1, quantity))
	}
	name := "std-ground"
	if standard == 0 {
		name = "free-standard"
	}
	options := []shippingOptionWire{{name, usd(standard), estimate(3, 6)}, {"express-2day", usd(standard + 1200), estimate(2, 2)}}
	if !p.Heavy {
		options = append(options, shippingOptionWire{"overnight", usd(standard + 2700), estimate(0, 1)})
	}
	return offerShippingWire{options, name}
}

// estimateOf returns a delivery estimate in days after at; from 0 means no earliest day.
func estimateOf(at time.Time, from, to int) *estimateWire {
	midnight := at.UTC().Truncate(day)
	w := &estimateWire{Latest: midnight.Add(time.Duration(to) * day).Format(time.RFC3339)}
	if from > 0 {
		w.Earliest = midnight.Add(time.Duration(from) * day).Format(time.RFC3339)
	}
	return w
}
