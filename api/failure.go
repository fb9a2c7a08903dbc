package api

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"
)

// FailureReason says why an intent failed. Codes are an open set.
type FailureReason struct {
	Code    FailureCode `json:"code,omitzero"`     // "unknown" when absent
	Message Text        `json:"message,omitempty"` // what the service says; may quote the buyer
}

// FailureCode is the code of a failure reason: an open set that has grown over
// time.
type FailureCode string

// Expired is the code of an intent that was not confirmed in its window, as public
// clients have seen it. No event reports it.
const Expired FailureCode = "checkout_intent_expired"

// FailureGroup says who can do something about a failure.
type FailureGroup string

// The groups of failure codes that public clients have seen.
const (
	FailureExpiry   FailureGroup = "expired"
	FailureBuyer    FailureGroup = "buyer can fix"
	FailurePayment  FailureGroup = "payment"
	FailureMerchant FailureGroup = "merchant cannot be served"
	FailureRetry    FailureGroup = "try again later"
	FailureAccount  FailureGroup = "account"
	FailureUnknown  FailureGroup = "unclassified"
)

// Words is the code as people read it, without the kind of thing that failed: "out of stock".
func (c FailureCode) Words() string {
	short := strings.TrimPrefix(strings.TrimPrefix(string(c), "checkout_intent_"), "product_")
	return strings.ReplaceAll(string(Scrub(short)), "_", " ")
}

// Group classes the code; a code that is not known is unclassified.
func (c FailureCode) Group() FailureGroup { return c.known().group }

// Advice is one sentence on what to do about the failure.
func (c FailureCode) Advice() string { return c.known().advice }

type failure struct {
	code   FailureCode
	group  FailureGroup
	advice string
}

func (c FailureCode) known() failure {
	for _, f := range knownFailures() {
		if f.code == c {
			return f
		}
	}
	return failure{c, FailureUnknown, "This code is new here: read the message, and look it up in the provider's documentation."}
}

func knownFailures() []failure {
	return []failure{
		{Expired, FailureExpiry,
			"Nobody confirmed in time: release any hold on the buyer's money and create a new intent."},
		{"product_out_of_stock", FailureBuyer,
			"The product is sold out: tell the buyer, or offer another variant or merchant in a new intent."},
		{"insufficient_stock", FailureBuyer,
			"The merchant has fewer than were asked for: create a new intent with a lower quantity."},
		{"variant_selections_required", FailureBuyer,
			"The product comes in variants: look it up and create a new intent with a selection for each dimension."},
		{"variant_selections_invalid", FailureBuyer,
			"A selection matches no variant: compare labels and values with the product lookup, then create a new intent."},
		{"form_validation_error", FailureBuyer,
			"The merchant's form refused the buyer's details: check address, postal code and phone (try 212-333-2121), then create a new intent."},
		{"invalid_input", FailureBuyer,
			"The request holds something the service cannot use: check the product URL, quantity and buyer, then create a new intent."},
		{"missing_shipping_method", FailureBuyer,
			"The merchant does not ship to this address: create a new intent with another address."},
		{"constraint_total_price_exceeded", FailureBuyer,
			"The total is above maxTotalPrice: raise the limit in a new intent, or let it be."},
		{"constraint_shipping_cost_exceeded", FailureBuyer,
			"Shipping costs more than maxShippingPrice: raise the limit in a new intent, or let it be."},
		{"product_not_found", FailureBuyer,
			"The URL leads to no product: open it in a browser and create a new intent with the right one."},
		{"payment_failed", FailurePayment,
			"The payment was declined: ask the buyer for another method, and check that the token came from this account."},
		{"payment_cvc_expired", FailurePayment,
			"The card's security code has lapsed, as it does after a day: collect the card again and create a new intent."},
		{"unsupported_store_no_guest_checkout", FailureMerchant,
			"This merchant sells to signed-in customers only: it cannot be served, so do not retry."},
		{"bot_protection_blocked", FailureMerchant,
			"The merchant's bot protection blocks the purchase: retrying does not help, so take another merchant."},
		{"unsupported_currency", FailureMerchant,
			"The merchant charges in a currency that cannot be paid: take another merchant or its local shop."},
		{"offer_retrieval_failed", FailureRetry,
			"No offer could be read from the merchant's site: check the URL, and create a new intent after a while."},
		{"order_placement_failed", FailureRetry,
			"The order did not go through: release the buyer's money, check with the merchant, then create a new intent."},
		{"captcha_blocked", FailureRetry,
			"A captcha stopped the purchase: one more try later may pass, repeated ones will not."},
		{"workflow_invocation_failed", FailureRetry,
			"The service could not start its work: create a new intent in a few minutes."},
		{"incorrect_cost_breakdown", FailureRetry,
			"The costs changed or did not add up while ordering: create a new intent to get a fresh offer."},
		{"developer_not_found", FailureAccount,
			"The account behind the key was not found: check the key and its environment, then ask the provider."},
		{"promo_code_discovery_not_enabled", FailureAccount,
			"Promo code discovery is off for this account: leave discoverPromoCodes out, or have the provider enable it."},
		{"unknown", FailureUnknown,
			"The service gives no cause: read the message, and send the provider the intent's id if it recurs."},
	}
}

// decodeFailure reads {code, message}, or a bare string: a code if it looks like
// one, else a message.
func decodeFailure(v gjson.Result) *FailureReason {
	switch {
	case v.IsObject():
		f := fieldsOf(v)
		return &FailureReason{Code: FailureCode(cmp.Or(textOrNumber(f["code"]), "unknown")), Message: textOf(f["message"])}
	case v.Type == gjson.String && v.Str != "":
		text := textOf(v)
		if strings.ContainsAny(string(text), " .,:") {
			return &FailureReason{Code: "unknown", Message: text}
		}
		return &FailureReason{Code: FailureCode(text)}
	}
	return nil
}
