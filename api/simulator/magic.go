package simulator

import (
	"net/url"
	"strings"

	"tillwatch/api"
)

// situation is what a magic product URL asks for beside a failure.
type situation string

// The situations that the last segment of a magic path may name.
const (
	situationNone    situation = ""
	soldOut          situation = "sold-out"          // product_out_of_stock, and the lookup says so
	unpublished      situation = "unpublished"       // offer_retrieval_failed, lookup 404
	partialStock     situation = "partial-stock"     // some variants are out of stock
	manyVariants     situation = "many-variants"     // 28 variants; one must be selected
	highValue        situation = "high-value"        // 9,999.99 USD and freight
	onSale           situation = "on-sale"           // a discount without a code
	taxExempt        situation = "tax-exempt"        // no tax
	digital          situation = "digital"           // no shipping, no shipment
	heavyweight      situation = "heavyweight"       // dear shipping
	preorder         situation = "preorder"          // availability preorder
	delayedShipping  situation = "delayed-shipping"  // the shipment is delayed on its way
	canceledShipping situation = "canceled-shipping" // the shipment is canceled
	noTracking       situation = "no-tracking"       // the shipment has no tracking number
	splitShipment    situation = "split-shipment"    // two shipments
	slowOffer        situation = "slow-offer"        // ten times as long
	slowOrder        situation = "slow-order"        // ten times as long
	neverOffered     situation = "never-offered"     // retrieval goes on until the window closes
	hostileText      situation = "hostile-text"      // escape sequences in every free text
)

func situations() []situation {
	return []situation{soldOut, unpublished, partialStock, manyVariants, highValue, onSale, taxExempt, digital, heavyweight,
		preorder, delayedShipping, canceledShipping, noTracking, splitShipment, slowOffer, slowOrder, neverOffered, hostileText}
}

// magic is what a product URL of the form …/magic/<name> asks for; the name is
// a failure code or a situation. ?while=placing lets any code strike while the
// order is placed.
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
	switch s := situation(name); s {
	case soldOut, unpublished: // of the product, unless it strikes while the order is placed
		if !placing {
			return magic{situation: s}
		}
		code := map[situation]api.FailureCode{soldOut: "product_out_of_stock", unpublished: "offer_retrieval_failed"}[s]
		return magic{failure: code, placing: true, situation: s}
	default:
		for _, known := range situations() {
			if s == known {
				return magic{situation: s}
			}
		}
	}
	if f, ok := failureKinds()[api.FailureCode(name)]; ok {
		return magic{failure: api.FailureCode(name), placing: placing || f.placing}
	}
	return magic{}
}
