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
	soldOut          situation = "sold-out"
	unpublished      situation = "unpublished"
	partialStock     situation = "partial-stock"
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

// Magic is what a product URL whose path ends in /magic/ and the name asks for.
type Magic struct{ Name, Does string }

// Magics lists the names beside the failure codes, each of which is a name, too:
// see [FailureCodes].
func Magics() []Magic {
	return []Magic{
		{string(soldOut), "fails as product_out_of_stock, and the lookup agrees"},
		{string(unpublished), "fails as offer_retrieval_failed; the lookup answers 404"},
		{string(partialStock), "four sizes, every second out of stock"},
		{string(manyVariants), "28 variants, of which one must be selected"},
		{string(highValue), "9,999.99 USD, and freight"},
		{string(onSale), "a discount without a code"},
		{string(taxExempt), "no tax"},
		{string(digital), "no shipping and no shipment"},
		{string(heavyweight), "dear shipping"},
		{string(preorder), "availability preorder"},
		{string(delayedShipping), "the shipment is delayed on its way"},
		{string(canceledShipping), "the shipment is canceled"},
		{string(noTracking), "the shipment has no tracking number"},
		{string(splitShipment), "two shipments"},
		{string(slowOffer), "the offer takes ten times as long"},
		{string(slowOrder), "the order takes ten times as long"},
		{string(neverOffered), "retrieval goes on until the confirm window closes"},
		{string(hostileText), "control characters and escape sequences in free text"},
	}
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
		for _, known := range Magics() {
			if name == known.Name {
				return magic{situation: s}
			}
		}
	}
	if f, ok := failureKinds()[api.FailureCode(name)]; ok {
		return magic{failure: api.FailureCode(name), placing: placing || f.placing}
	}
	return magic{}
}
