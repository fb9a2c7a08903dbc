package simulator

import (
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

// Magic describes the effect of a product URL whose path ends in /magic/ and the name.
type Magic struct{ Name, Does string }

// Magics lists the names for situations. The [FailureCodes] are names, too.
func Magics() []Magic { return slices.Clone(theWorld().Magics) }

// magic is what a product URL …/magic/<name> demands; the name is a failure code or a
// situation. With ?while=placing any code takes effect while the order is placed.
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
