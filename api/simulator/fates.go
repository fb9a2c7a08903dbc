package simulator

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"tillwatch/api"
)

// situation is what a magic product URL demands other than a failure.
type situation string

// The situations, by their names in magic URLs.
const (
	situationNone    situation = ""
	soldOut          situation = "sold-out"
	unpublished      situation = "unpublished"
	manyVariants     situation = "many-variants"
	highValue        situation = "high-value"
	onSale           situation = "on-sale"
	taxExempt        situation = "tax-exempt"
	digital          situation = "digital"
	heavyweight      situation = "heavyweight"
	preorder         situation = "preorder"
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
		return magic{failure: api.FailureCode(name), placing: placing || f.placing}
	}
	return magic{}
}

// failureKind says at which step a failure code occurs, how often in the shop, and with which message.
type failureKind struct {
	placing bool // while the order is placed; false: while the offer is retrieved
	weight  int  // relative frequency in the shop; 0: only by magic URL
	message string
}

const expired api.FailureCode = "checkout_intent_expired"

func failureKinds() map[api.FailureCode]failureKind {
	return map[api.FailureCode]failureKind{
		expired:                               {message: "The checkout intent was not confirmed in time"},
		"product_out_of_stock":                {weight: 9, message: "The product is sold out"},
		"insufficient_stock":                  {placing: true, weight: 5, message: "Only part of the requested quantity is in stock"},
		"variant_selections_required":         {weight: 3, message: "Select a value for each of the product's options"},
		"variant_selections_invalid":          {weight: 3, message: "A selected option value does not exist for this product"},
		"form_validation_error":               {weight: 4, message: "The merchant refused the phone number: it does not match the expected pattern"},
		"invalid_input":                       {weight: 1, message: "The product URL does not point at one product"},
		"missing_shipping_method":             {weight: 3, message: "The merchant offers no shipping to this address"},
		"constraint_total_price_exceeded":     {weight: 3, message: "The total is above the given maximum"},
		"constraint_shipping_cost_exceeded":   {weight: 2, message: "Shipping costs more than the given maximum"},
		"product_not_found":                   {weight: 2, message: "There is no product at this URL"},
		"payment_failed":                      {placing: true, weight: 8, message: "The card was declined by its issuer"},
		"payment_cvc_expired":                 {placing: true, weight: 2, message: "The stored security code has lapsed; collect the card again"},
		"unsupported_store_no_guest_checkout": {weight: 3, message: "The merchant does not allow checkout as a guest"},
		"bot_protection_blocked":              {weight: 4, message: "The merchant's protection against bots blocked the visit"},
		"unsupported_currency":                {weight: 1, message: "The merchant does not sell in US dollars"},
		"offer_retrieval_failed":              {weight: 4, message: "The offer could not be retrieved from the merchant"},
		"order_placement_failed":              {placing: true, weight: 5, message: "The merchant did not take the order"},
		"captcha_blocked":                     {placing: true, weight: 3, message: "A captcha at the merchant's checkout could not be solved"},
		"workflow_invocation_failed":          {weight: 1, message: "The checkout could not be started"},
		"incorrect_cost_breakdown":            {placing: true, weight: 2, message: "The merchant's final costs differ from the offer"},
		"developer_not_found":                 {message: "The account does not exist"},
		"promo_code_discovery_not_enabled":    {message: "Discovery of promo codes is not enabled for this account"},
		"unknown":                             {weight: 1, message: "An unknown error occurred"},
	}
}

// FailureCodes lists the codes that an intent can fail with.
func FailureCodes() []api.FailureCode { return slices.Sorted(maps.Keys(failureKinds())) }

func failureOf(code api.FailureCode) *failureWire {
	kind, ok := failureKinds()[code]
	if !ok {
		kind.message = "The checkout failed"
	}
	return &failureWire{code, kind.message}
}

// randomFailure draws a failure code by weight.
func randomFailure(d dice) (code api.FailureCode, placing bool) {
	kinds := failureKinds()
	codes := FailureCodes()
	total := 0
	for _, kind := range kinds {
		total += kind.weight
	}
	at := d.IntN(total)
	for _, code := range codes {
		if at -= kinds[code].weight; at < 0 {
			return code, kinds[code].placing
		}
	}
	return "unknown", false
}
