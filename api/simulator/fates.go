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
