package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// priceOffer makes the offer that the merchant gives for an intent, or the
// failure that keeps it from one. The service selects the shipping: the
// cheapest option (contract, What the service does).
func (s *Simulator) priceOffer(in *intent, at time.Time) (*offerWire, *failureWire) {
	m := magicOf(in.ProductURL)
	p := s.catalogue.find(in.ProductURL)
	if code := unservable(in, p, m); code != "" {
		return nil, failureOf(code)
	}
	d := s.dice(diceOffer, in.number)
	price, title := p.price, p.name
	switch m.situation {
	case highValue:
		price = highPrice
	case hostileText:
		title = hostile(title)
	}
	subtotal := price * int64(in.Quantity)
	discount, freeShipping, applied := promotions(in, d, subtotal)
	if m.situation == onSale {
		discount += subtotal / 5
	}
	shipping := s.shippingOptions(p, m, subtotal, freeShipping, in.Quantity, at)
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
		Product:           offerProductWire{title},
		Cost:              costWire{Subtotal: usd(subtotal), Discount: usdOrNone(discount), Shipping: usd(carriage), Tax: usd(tax), Total: usd(total)},
		Shipping:          shipping,
		AppliedPromoCodes: applied,
	}, nil
}

// unservable is the code of what is wrong with the product or the selection.
func unservable(in *intent, p *product, m magic) api.FailureCode {
	dimensions := p.dimensions
	switch m.situation {
	case manyVariants:
		dimensions = manyDimensions()
		if len(in.VariantSelections) == 0 && !strings.Contains(in.ProductURL, "variant=") {
			return "variant_selections_required"
		}
	case partialStock:
		dimensions = []variantDimensionWire{{"Size", []string{"S", "M", "L", "XL"}}}
	}
	if p.removed {
		return "product_not_found"
	}
	if p.availability == api.OutOfStock {
		return "product_out_of_stock"
	}
	if len(dimensions) == 0 {
		return ""
	}
	for _, chosen := range in.VariantSelections {
		i := slices.IndexFunc(dimensions, func(dim variantDimensionWire) bool { return sameLabel(dim.Label, chosen.Label) })
		if i < 0 {
			return "variant_selections_invalid"
		}
		value := selectedValue(chosen.Value)
		at := slices.IndexFunc(dimensions[i].Values, func(v string) bool { return strings.EqualFold(v, value) })
		if at < 0 {
			return "variant_selections_invalid"
		}
		if m.situation == partialStock && at%2 == 1 {
			return "product_out_of_stock"
		}
	}
	return ""
}

// sameLabel matches loosely: Colour is Color.
func sameLabel(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "ou", "o") }
	return plain(a) == plain(b)
}

func selectedValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// promotions applies the codes that the merchants know; others are silently
// ignored.
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
func (s *Simulator) shippingOptions(p *product, m magic, subtotal int64, free bool, quantity int, at time.Time) offerShippingWire {
	if p.digital || m.situation == digital {
		return offerShippingWire{AvailableOptions: []shippingOptionWire{}}
	}
	estimate := func(from, to int) *estimateWire { return s.estimateOf(at, from, to) }
	standard := p.merchant.shipping
	if p.merchant.freeFrom > 0 && subtotal >= p.merchant.freeFrom || free {
		standard = 0
	}
	if m.situation == heavyweight || m.situation == highValue {
		return offerShippingWire{[]shippingOptionWire{{"freight", usd(24_999), estimate(6, 12)}}, "freight"}
	}
	if p.heavy && !free {
		standard += 1500 * int64(max(1, quantity))
	}
	name := "std-ground"
	if standard == 0 {
		name = "free-standard"
	}
	options := []shippingOptionWire{{name, usd(standard), estimate(3, 6)}, {"express-2day", usd(standard + 1200), estimate(2, 2)}}
	if !p.heavy {
		options = append(options, shippingOptionWire{"overnight", usd(standard + 2700), estimate(0, 1)})
	}
	return offerShippingWire{options, name}
}

// estimateOf is a span of days from a day on; 0 is no earliest. Offers of one
// day share it.
func (s *Simulator) estimateOf(at time.Time, from, to int) *estimateWire {
	midnight := at.UTC().Truncate(day)
	key := span{midnight.Unix(), from, to}
	w, ok := s.estimates[key]
	if !ok {
		w = &estimateWire{Latest: midnight.Add(time.Duration(to) * day).Format(time.RFC3339)}
		if from > 0 {
			w.Earliest = midnight.Add(time.Duration(from) * day).Format(time.RFC3339)
		}
		s.estimates[key] = w
	}
	return w
}

type span struct {
	midnight int64
	from, to int
}
