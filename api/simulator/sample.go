package simulator

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
)

// EventKind is an event type of the contract, described for people.
type EventKind struct {
	Type  api.EventType `json:"type"`
	Means string        `json:"means"`
	Needs string        `json:"source"` // what its source is

	prefix string // of its sources' ids
	suffix string // of its own id
}

// EventKinds are the event types of the contract.
func EventKinds() []EventKind {
	return []EventKind{
		{api.OfferRetrieved, "the offer is available: the intent can be confirmed", "an intent, ci_…", "ci_", "awaiting_confirmation"},
		{api.OfferFailed, "there is no offer: the intent failed", "an intent, ci_…", "ci_", "failed"},
		{api.IntentCompleted, "the order is placed", "an intent, ci_…", "ci_", "completed"},
		{api.OrderFailed, "the order could not be placed: the intent failed", "an intent, ci_…", "ci_", "failed"},
		{api.ShipmentCreated, "the merchant ships a parcel of an order", "a shipment, shp_…; in the stand-in its intent, ci_…", "shp_", "created"},
		{api.ShipmentUpdated, "the parcel was scanned: its status may have changed", "a shipment, shp_…", "shp_", "shipped"},
		{api.ProductUpdated, "a product's price, stock or other data changed; carries the product", "a product, shop.example:mug", "", ""},
		{api.ProductRemoved, "the product is no longer sold", "a product, shop.example:mug", "", "removed"},
		{api.VerificationChallenge, "an endpoint was saved, and must answer {\"challenge\": source.id}", "a webhook endpoint, we_…", "we_", "verification_challenge"},
	}
}

// sampleProduct is the data of a sample of product.updated; %s is its id.
const sampleProduct = `{"id":%s,"name":"Merino Crew","url":"https://outfitters.example/products/merino-crew","brand":"Northern Wool","retailer":"Outfitters",` +
	`"sku":"NW-MC-01","description":"Midweight merino, ribbed cuffs.","availability":"in_stock","isPurchasable":true,"price":{"currencyCode":"USD","amountSubunits":12900},` +
	`"images":[{"url":"https://cdn.outfitters.example/merino-crew-1.jpg","isFeatured":true}],"variantDimensions":null,"variants":null}`

// Sample is the body of an event of this kind. source is the id of its source; "": a made-up one.
func (k EventKind) Sample(source string, now time.Time) []byte {
	ofProduct := k.prefix == ""
	switch {
	case source == "" && ofProduct:
		source = "outfitters.example:merino-crew"
	case source == "":
		var random [16]byte
		_, _ = rand.Read(random[:]) // never fails
		source = k.prefix + hex.EncodeToString(random[:])
	}
	e := event{kind: k.Type, source: source, suffix: k.suffix, at: now.UnixMilli()}
	if ofProduct { // it can have such an event again and again
		e.suffix = strings.TrimPrefix(e.suffix+"_"+now.UTC().Format("20060102T150405.000Z"), "_")
	}
	if k.Type == api.ProductUpdated {
		e.data = fmt.Appendf(nil, sampleProduct, encode(source))
	}
	return encode(e.wire())
}
