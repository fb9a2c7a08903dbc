package command

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// eventType is a type of event of the contract, for people.
type eventType struct {
	Type   api.EventType `json:"type"`
	Means  string        `json:"means"`
	Needs  string        `json:"source"` // what its source is
	prefix string        // of the ids of its sources
	suffix string        // of its own id
}

func triggerTypes() []eventType {
	return []eventType{
		{api.OfferRetrieved, "the offer is there: the intent can be confirmed", "an intent, ci_…", "ci_", "awaiting_confirmation"},
		{api.OfferFailed, "there is no offer: the intent failed", "an intent, ci_…", "ci_", "failed"},
		{api.IntentCompleted, "the order is placed", "an intent, ci_…", "ci_", "completed"},
		{api.OrderFailed, "the order could not be placed: the intent failed", "an intent, ci_…", "ci_", "failed"},
		{api.ShipmentCreated, "the merchant ships a parcel of an order", "a shipment, shp_…; in the stand-in also its intent", "shp_", "created"},
		{api.ShipmentUpdated, "the parcel was scanned: its status may be another", "a shipment, shp_…; in the stand-in also its intent", "shp_", "shipped"},
		{api.ProductUpdated, "a price, the stock or else of a product changed; carries the product", "a product, shop.example:mug", "", ""},
		{api.ProductRemoved, "the product is no longer sold", "a product, shop.example:mug", "", "removed"},
		{api.VerificationChallenge, "an endpoint was saved, and has to answer {\"challenge\": source.id}", "a webhook endpoint, we_…", "we_", "verification_challenge"},
	}
}

// typeOf finds a type by its name.
func typeOf(name string) (eventType, error) {
	all := triggerTypes()
	i := slices.IndexFunc(all, func(t eventType) bool { return string(t.Type) == name })
	if i >= 0 {
		return all[i], nil
	}
	return eventType{}, fmt.Errorf("there is no type of event %.60q%s (tillwatch trigger --list)", name, suggest(name, asStrings(api.EventTypes())))
}

// sampleProduct is what product.updated carries, but for its id.
const sampleProduct = `,"data":{"id":%s,"name":"Merino Crew","url":"https://outfitters.example/products/merino-crew","brand":"Northern Wool","retailer":"Outfitters",` +
	`"sku":"NW-MC-01","description":"Midweight merino, ribbed cuffs.","availability":"in_stock","isPurchasable":true,"price":{"currencyCode":"USD","amountSubunits":12900},` +
	`"images":[{"url":"https://cdn.outfitters.example/merino-crew-1.jpg","isFeatured":true}],"variantDimensions":null,"variants":null}`

// sample is a body of the type in the contract's shape and order. source is the id of
// what it is about; "": one that nobody has.
func (t eventType) sample(source string, now time.Time) []byte {
	if source == "" {
		var random [16]byte
		_, _ = rand.Read(random[:]) // never fails
		source = t.prefix + hex.EncodeToString(random[:])
		if t.prefix == "" {
			source = "outfitters.example:merino-crew"
		}
	}
	group, _, _ := strings.Cut(string(t.Type), ".")
	suffix, data := t.suffix, ""
	if t.prefix == "" { // it can happen to a product again and again
		suffix = strings.TrimPrefix(suffix+"_"+now.UTC().Format("20060102T150405.000Z"), "_")
	}
	if t.Type == api.ProductUpdated {
		data = fmt.Sprintf(sampleProduct, inJSON(source))
	}
	return fmt.Appendf(nil, `{"id":%s,"object":"event","type":%q,"createdAt":%q,"source":{"type":%q,"id":%s}%s}`,
		inJSON("evt_"+source+"_"+suffix), t.Type, now.UTC().Format("2006-01-02T15:04:05.000Z"), group, inJSON(source), data)
}

// inJSON is any text as JSON, which a quoted text of Go is not.
func inJSON(text string) string {
	encoded, _ := json.Marshal(text) // a text always can be
	return string(encoded)
}

// eventIn is the event in a body. What is none is an error, and still has the id and
// the type that the body tells.
func eventIn(body []byte) (api.Event, error) {
	event, err := api.DecodeEvent(body)
	if err != nil {
		var told struct{ ID, Type string }
		_ = json.Unmarshal(body, &told) // as far as it is JSON
		event = api.Event{ID: api.ScrubID(told.ID), Type: api.EventType(api.Scrub(told.Type)), Raw: body}
	}
	return event, err
}

// tellMissing says which headers of a delivery are empty.
func tellMissing(event api.Event, prefix string, stderr io.Writer) {
	for _, header := range [][2]string{{"event-id", string(event.ID)}, {"topic", string(event.Type)}} {
		if header[1] == "" {
			fmt.Fprintf(stderr, "tillwatch: %s%s is empty: the body tells none\n", prefix, header[0])
		}
	}
}

// override is a field that --set changes.
type override struct {
	path  []string
	value string // as JSON
}

func (o override) String() string { return strings.Join(o.path, ".") }

// text is the value without the quotes of a string.
func (o override) text() string {
	if v := gjson.Parse(o.value); v.Type == gjson.String {
		return v.Str
	}
	return o.value
}

// parseOverride reads PATH=VALUE. What is no JSON is a string.
func parseOverride(text string) (override, error) {
	path, value, ok := strings.Cut(text, "=")
	o := override{strings.Split(path, "."), value}
	if !ok || slices.Contains(o.path, "") {
		return o, fmt.Errorf("--set %.60q names no field and value: write it as in --set data.price=1299", text)
	}
	if !json.Valid([]byte(value)) {
		o.value = inJSON(value)
	}
	return o, nil
}

// apply changes a field of a body; the rest stays as it was written. What is a text
// stays one, and a number for an amount of money is its cents. Only data takes new
// fields, unless it is closed, as that of a known shape is.
func (o override) apply(body []byte, closed bool) ([]byte, error) {
	around, body := body, bytes.TrimSpace(body)
	here := gjson.ParseBytes(body)
	if !json.Valid(body) || !here.IsObject() {
		return nil, fmt.Errorf("--set %s: the body is no JSON object: leave out --set to send it as it is", o)
	}
	changed, err := o.put(body, here, closed)
	before, after, _ := bytes.Cut(around, body)
	return slices.Concat(before, changed, after), err
}

func (o override) put(body []byte, here gjson.Result, closed bool) ([]byte, error) {
	for i, name := range o.path {
		next := here.Get(gjson.Escape(name))
		if !next.Exists() {
			return o.add(body, here, i, closed)
		}
		here = next
	}
	value, given := o.value, gjson.Parse(o.value)
	if amount := here.Get("amountSubunits"); amount.Exists() && given.Type == gjson.Number {
		here = amount
	}
	if here.Type == gjson.String && given.Type == gjson.Number {
		value = `"` + value + `"`
	}
	return slices.Concat(body[:here.Index], []byte(value), body[here.Index+len(here.Raw):]), nil
}

// add puts a new field into an object of a body, where that may have one.
func (o override) add(body []byte, object gjson.Result, depth int, closed bool) ([]byte, error) {
	var known []string
	if object.IsObject() {
		object.ForEach(func(key, _ gjson.Result) bool {
			known = append(known, key.Str)
			return true
		})
	}
	name, value := o.path[depth], o.value
	switch {
	case !object.IsObject():
		return nil, fmt.Errorf("--set %s: %s holds no field %s", o, strings.Join(o.path[:depth], "."), name)
	case o.path[0] != "data" || closed && depth > 0:
		return nil, fmt.Errorf("--set %s: there is no field %s; there are %s", o, name, strings.Join(known, ", "))
	}
	for _, inner := range slices.Backward(o.path[depth+1:]) {
		value = fmt.Sprintf("{%s:%s}", inJSON(inner), value)
	}
	end := object.Index + len(object.Raw) - 1
	comma := ","
	if len(known) == 0 {
		comma = ""
	}
	return slices.Concat(body[:end], fmt.Appendf(nil, "%s%s:%s", comma, inJSON(name), value), body[end:]), nil
}
