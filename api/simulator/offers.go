package simulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// priceOffer makes the merchant's offer for an intent, or returns the failure that prevents it. The service selects
// the cheapest shipping (contract, What the service does).
func (f *fulfilment) priceOffer(in *intent, at time.Time) (*offerWire, *failureWire) {
	m := magicOf(in.ProductURL)
	p := f.catalogue.find(in.ProductURL)
	if failure := unservable(in, p, m); failure != nil {
		return nil, failure
	}
	subtotal := p.Price * int64(in.Quantity)
	shipping := shippingOptions(p, m, subtotal, in.Quantity, at)
	var carriage int64
	if len(shipping.AvailableOptions) > 0 {
		carriage = shipping.AvailableOptions[0].Cost.AmountSubunits
	}
	tax := (subtotal*taxOf(in.Buyer.Province) + 50_000) / 100_000
	total := subtotal + carriage + tax
	if c := in.Constraints; c != nil {
		if c.MaxShippingPrice != nil && carriage > *c.MaxShippingPrice {
			return nil, &failureWire{"constraint_shipping_cost_exceeded",
				fmt.Sprintf("Shipping costs %d, the maximum is %d", carriage, *c.MaxShippingPrice)}
		}
		if c.MaxTotalPrice != nil && total > *c.MaxTotalPrice {
			return nil, &failureWire{"constraint_total_price_exceeded",
				fmt.Sprintf("The total is %d, the maximum is %d", total, *c.MaxTotalPrice)}
		}
	}
	return &offerWire{
		Product:  offerProductWire{p.Name},
		Cost:     costWire{Subtotal: usd(subtotal), Shipping: usd(carriage), Tax: usd(tax), Total: usd(total)},
		Shipping: shipping,
	}, nil
}

// unservable returns what is wrong with the product or its variant; nil if nothing is. If the URL demands it, a
// product that is gone or sold out fails the intent only while the order is placed.
func unservable(in *intent, p *product, m magic) *failureWire {
	code := p.choose(in.ProductURL, in.VariantSelections)
	switch {
	case p.removed && m.situation == unpublished && !m.placing:
		return failureOf("offer_retrieval_failed")
	case p.removed && !m.placing:
		return failureOf("product_not_found")
	case code != "":
		return failureOf(code)
	case p.availability == api.OutOfStock && !m.placing:
		return failureOf("product_out_of_stock")
	}
	return nil
}

// shippingOptions lists the merchant's options, the cheapest first and selected.
func shippingOptions(p *product, m magic, subtotal int64, quantity int, at time.Time) offerShippingWire {
	if p.Digital || m.situation == digital {
		return offerShippingWire{AvailableOptions: []shippingOptionWire{}}
	}
	estimate := func(from, to int) *estimateWire { return estimateOf(at, from, to) }
	standard := p.merchant.Shipping
	if p.merchant.FreeFrom > 0 && subtotal >= p.merchant.FreeFrom {
		standard = 0
	}
	if p.Heavy {
		standard += 1500 * int64(max(1, quantity))
	}
	name := "std-ground"
	if standard == 0 {
		name = "free-standard"
	}
	options := []shippingOptionWire{
		{name, usd(standard), estimate(3, 6)}, {"express-2day", usd(standard + 1200), estimate(2, 2)},
	}
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

// choose returns what is wrong with the choice of a variant; "" if nothing is. A deep link of the merchant, as in
// ?variant=7, names a whole variant. A product without dimensions accepts any order.
func (p *product) choose(productURL string, selections []variantSelectionWire) (code api.FailureCode) {
	if u, err := url.Parse(productURL); err == nil && u.Query().Has("variant") || len(p.dimensions) == 0 {
		return ""
	}
	chosen := map[string]bool{}
	for _, s := range selections {
		var value string
		if json.Unmarshal(s.Value, &value) != nil {
			value = string(s.Value)
		}
		known := slices.ContainsFunc(p.dimensions, func(dim variantDimensionWire) bool {
			return strings.EqualFold(dim.Label, s.Label) &&
				slices.ContainsFunc(dim.Values, func(v string) bool { return strings.EqualFold(v, value) })
		})
		if !known {
			return "variant_selections_invalid"
		}
		chosen[strings.ToLower(s.Label)] = true
	}
	if len(chosen) < len(p.dimensions) {
		return "variant_selections_required"
	}
	return ""
}

// anySelection chooses a random value of each dimension.
func (p *product) anySelection(d dice) []variantSelectionWire {
	var all []variantSelectionWire
	for _, dim := range p.dimensions {
		all = append(all, variantSelectionWire{dim.Label, quoted(pick(d, dim.Values))})
	}
	return all
}

// situation is what a magic product URL demands other than a failure.
type situation string

// The situations, by their names in magic URLs.
const (
	situationNone    situation = ""
	soldOut          situation = "sold-out"
	unpublished      situation = "unpublished"
	digital          situation = "digital"
	delayedShipping  situation = "delayed-shipping"
	canceledShipping situation = "canceled-shipping"
	noTracking       situation = "no-tracking"
	splitShipment    situation = "split-shipment"
	slowOffer        situation = "slow-offer"
	slowOrder        situation = "slow-order"
	neverOffered     situation = "never-offered"
	hostileText      situation = "hostile-text"
)

// Magic describes the effect of a product URL whose path ends in /magic/ and the name.
type Magic struct {
	Name string `json:"name"`
	Does string `json:"does"`
}

// Magics lists the names for situations. The [FailureCodes] are names, too.
func Magics() []Magic { return slices.Clone(theWorld().Magics) }

// magic is what a product URL …/magic/<name> demands; the name is a failure code or a situation. With ?while=placing
// any code takes effect while the order is placed.
type magic struct {
	failure   api.FailureCode
	placing   bool
	situation situation
}

func magicOf(productURL string) magic {
	if !strings.Contains(productURL, "/magic/") {
		return magic{}
	}
	u, err := url.Parse(productURL)
	if err != nil {
		return magic{}
	}
	_, name, _ := strings.Cut(u.Path, "/magic/")
	name = strings.Trim(name, "/")
	placing := u.Query().Get("while") == "placing"
	s := situation(name)
	switch {
	case placing && s == soldOut: // without placing it is a property of the product
		return magic{failure: "product_out_of_stock", placing: true, situation: s}
	case placing && s == unpublished:
		return magic{failure: "offer_retrieval_failed", placing: true, situation: s}
	case slices.ContainsFunc(theWorld().Magics, func(m Magic) bool { return m.Name == name }):
		return magic{situation: s}
	}
	if f, ok := failureKinds()[api.FailureCode(name)]; ok {
		return magic{failure: api.FailureCode(name), placing: placing || f.Placing}
	}
	return magic{}
}

// failureKind says at which step a failure code occurs, how often in the shop, and with which message.
type failureKind struct {
	Placing bool // while the order is placed; false: while the offer is retrieved
	Weight  int  // relative frequency in the shop; 0: only by magic URL
	Message string
}

const expired api.FailureCode = "checkout_intent_expired"

func failureKinds() map[api.FailureCode]failureKind { return theWorld().Failures }

// FailureCodes lists the codes that an intent can fail with.
func FailureCodes() []api.FailureCode { return slices.Sorted(maps.Keys(failureKinds())) }

func failureOf(code api.FailureCode) *failureWire {
	kind, ok := failureKinds()[code]
	if !ok {
		kind.Message = "The checkout failed"
	}
	return &failureWire{code, kind.Message}
}

// randomFailure draws a failure code by weight.
func randomFailure(d dice) (code api.FailureCode, placing bool) {
	kinds := failureKinds()
	codes := FailureCodes()
	total := 0
	for _, kind := range kinds {
		total += kind.Weight
	}
	at := d.IntN(total)
	for _, code := range codes {
		if at -= kinds[code].Weight; at < 0 {
			return code, kinds[code].Placing
		}
	}
	return "unknown", false
}
