package simulator

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// A stand-in may run for days: it keeps at least this many of its newest intents, with their shipments, and ten times
// as many events.
const (
	keptIntents = 10_000
	keptEvents  = 10 * keptIntents
)

// series holds the newest things of one kind, by creation. The number of a thing, from 1, stays when older ones go.
type series[T any] struct {
	items []T
	gone  int // number of those let go
}

// made counts all, also those let go.
func (s *series[T]) made() int { return s.gone + len(s.items) }

// since returns what was made after the first number things, as far as it is still there.
func (s *series[T]) since(number int) []T {
	return s.items[min(max(number-s.gone, 0), len(s.items)):]
}

// letGo drops the oldest things, up to the first that is not over, until most are left, and returns them. Each time
// it moves the others: it begins only with a sixteenth too many.
func (s *series[T]) letGo(most int, over func(T) bool) (gone []T) {
	if len(s.items) <= most+most/16 {
		return nil
	}
	spare := s.items[:len(s.items)-most]
	n := slices.IndexFunc(spare, func(item T) bool { return !over(item) })
	if n < 0 {
		n = len(spare)
	}
	gone = slices.Clone(s.items[:n])
	s.items = slices.Delete(s.items, 0, n)
	s.gone += n
	return gone
}

// eventWire is an event as it goes over the wire: closed, compact and with its keys in this order (contract, Event).
type eventWire struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	Type      api.EventType   `json:"type"`
	CreatedAt string          `json:"createdAt"`
	Source    sourceWire      `json:"source"`
	Data      json.RawMessage `json:"data,omitempty"`
}

type sourceWire struct {
	Type api.SourceType `json:"type"`
	ID   string         `json:"id"`
}

// event is an event in the log.
type event struct {
	kind   api.EventType
	source string
	suffix string
	at     int64 // Unix milliseconds
	data   json.RawMessage
}

func (e *event) id() string { return "evt_" + e.source + "_" + e.suffix }

func (e *event) wire() eventWire {
	group, _, _ := strings.Cut(string(e.kind), ".")
	return eventWire{
		ID: e.id(), Object: "event", Type: e.kind, CreatedAt: stamp(time.UnixMilli(e.at)),
		Source: sourceWire{api.SourceType(group), e.source}, Data: e.data,
	}
}

// eventLog holds the newest events in the order in which they happened.
type eventLog struct {
	series[event]
	most int            // how many are kept
	byID map[string]int // numbers, from 0
}

func newEventLog() eventLog { return eventLog{most: math.MaxInt / 2, byID: map[string]int{}} }

func (l *eventLog) find(id string) (event, bool) {
	number, ok := l.byID[id]
	if !ok {
		return event{}, false
	}
	return l.since(number)[0], true
}

func (l *eventLog) has(e event) bool {
	_, ok := l.byID[e.id()]
	return ok
}

// add appends an event unless the log has one with its id, and lets the oldest go.
func (l *eventLog) add(e event) {
	if l.has(e) {
		return
	}
	l.byID[e.id()] = l.made()
	l.items = append(l.items, e)
	for _, old := range l.letGo(l.most, func(event) bool { return true }) {
		delete(l.byID, old.id())
	}
}

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
