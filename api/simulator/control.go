package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"tillwatch/api"
)

// Control is an endpoint of the control API, which is no part of the contract: it
// needs a key of the account, charges nothing and sends no RateLimit fields.
type Control struct {
	Method, Path string
	Body         string // the fields of its JSON
	Does         string
}

// controlAPI answers the requests to the control API.
type controlAPI struct{ sim *Simulator }

type control struct {
	Control
	run operation
}

func (c controlAPI) controls() []control {
	return []control{
		{Control{"GET", "/control/state", "", "counts of everything, buckets, webhook endpoints with their last error"}, c.state},
		{Control{"POST", "/control/intents", "productUrl, quantity, referenceId, state, failure, whilePlacing, purchase, offerAfter, placingAfter, confirmAfter (seconds), seed",
			"an intent with the fate of your choice"}, c.createIntent},
		{Control{"GET", "/control/intents/{id}", "", "all about an intent: itself, its shipments, its events, how many orders were placed"}, ofIntent(c.sim, c.intentFile)},
		{Control{"POST", "/control/intents/{id}/fail", "failure", "it fails with that reason: now while its offer is retrieved or its order placed, else once it is confirmed"}, ofIntent(c.sim, c.failIntent)},
		{Control{"POST", "/control/intents/{id}/expire", "", "its confirm window closes now"}, ofIntent(c.sim, c.expire)},
		{Control{"POST", "/control/intents/{id}/finish", "", "the placing of its order ends now"}, ofIntent(c.sim, c.finish)},
		{Control{"POST", "/control/shipments/{id}/advance", "", "its next scan happens now"}, ofShipment(c.sim, c.advance)},
		{Control{"POST", "/control/events", "type, source, productUrl, quantity, referenceId, failure, price (cents), availability",
			"what an event of the type tells of happens now, to the source or to something new; answers with the event"}, c.happen},
		{Control{"POST", "/control/products/events", "productUrl, topic (product.updated or product.removed), price (cents), availability",
			"the product changes and its event is delivered"}, c.changeProduct},
		{Control{"POST", "/control/webhook-endpoints", "url, history", "one more URL that events are delivered to, or the same verified anew"}, c.registerEndpoint},
		{Control{"POST", "/control/failures", "count, status, path, method, after, drop, twice, lateBy (seconds)", "the next requests under a path go wrong"}, c.fail},
		{Control{"POST", "/control/failures/end", "", "what lateBy holds back goes on now"}, c.letGo},
		{Control{"POST", "/control/event-faults", "type (of an event, or a group such as shipment.*), source, do (lose, double, late or reorder), lateBy (seconds), count",
			"the delivery of the next events goes wrong, at every endpoint"}, c.faultEvents},
		{Control{"GET", "/control/event-faults", "", "those that have not struck yet"}, c.eventFaults},
		{Control{"DELETE", "/control/event-faults", "", "they are forgotten"}, c.forgetEventFaults},
		{Control{"GET", "/control/clock", "", "the service's own time"}, c.readClock},
		{Control{"PUT", "/control/clock", "stopped, forward (seconds), to", "it stops, runs on or moves ahead; what is due on the way has happened with the answer"}, c.setClock},
		{Control{"PUT", "/control/buckets/{name}", "remaining", "what is left in mutations, reads, product-lookup or checkout-intents"}, c.setBucket},
	}
}

// Controls lists the endpoints of the control API.
func Controls() []Control {
	var all []Control
	for _, c := range (controlAPI{new(Simulator)}).controls() {
		all = append(all, c.Control)
	}
	return all
}

func (c controlAPI) state(*request) answer { return ok(c.sim.summary()) }

// readControl reads a body with known keys only.
func readControl(r *request, into any) *answer {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil || err == io.EOF {
		return nil
	}
	a := invalidField("body", err.Error())
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		a = invalidField(strings.TrimSuffix("body."+mistyped.Field, "."), "invalid value of type "+mistyped.Value)
	}
	return &a
}

func (c controlAPI) createIntent(r *request) answer {
	var o struct { // durations are in seconds at speed 1
		ProductURL   string          `json:"productUrl"`
		Quantity     int             `json:"quantity"`
		ReferenceID  string          `json:"referenceId"`
		State        api.IntentState `json:"state"`
		Failure      api.FailureCode `json:"failure"`
		WhilePlacing *bool           `json:"whilePlacing"` // nil: when such a failure usually strikes
		Purchase     bool            `json:"purchase"`
		OfferAfter   float64         `json:"offerAfter"`
		PlacingAfter float64         `json:"placingAfter"`
		ConfirmAfter float64         `json:"confirmAfter"`
		Seed         uint64          `json:"seed"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	placing := failureKinds()[o.Failure].placing
	if o.WhilePlacing != nil {
		placing = *o.WhilePlacing
	}
	in, err := c.sim.shop.createOrder(Order{
		ProductURL: o.ProductURL, Quantity: o.Quantity, ReferenceID: o.ReferenceID, State: o.State, Seed: o.Seed,
		Fate: Fate{Failure: o.Failure, WhilePlacing: placing, Purchase: o.Purchase,
			OfferAfter: seconds(o.OfferAfter), PlacingAfter: seconds(o.PlacingAfter), ConfirmAfter: seconds(o.ConfirmAfter)},
	})
	if err != nil {
		return invalidField("body", err.Error())
	}
	return created(in.intentWire)
}

// expire closes the confirm window of an intent at once.
func (c controlAPI) expire(_ *request, in *intent) answer {
	c.sim.fulfilment.expire(in, c.sim.agenda.now())
	return ok(in.intentWire)
}

// finish ends the placing of an order at once.
func (c controlAPI) finish(_ *request, in *intent) answer {
	c.sim.fulfilment.endPlacing(in, c.sim.agenda.now())
	return ok(in.intentWire)
}

// advance makes the next scan of a shipment happen now.
func (c controlAPI) advance(sh *shipment) answer {
	c.sim.fulfilment.advance(sh, c.sim.agenda.now())
	return ok(sh.shipmentWire)
}

// fail makes the next requests fail.
func (c controlAPI) fail(r *request) answer {
	o := faultOrder{Count: 1}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	if o.Status == 0 && !o.Drop && !o.Twice && o.LateBy == 0 {
		o.Status = http.StatusInternalServerError
	}
	switch {
	case o.Status != 0 && (o.Status < 400 || o.Status > 599) || o.Count < 1:
		return invalidField("body", "status must be from 400 to 599 and count at least 1")
	case !(o.LateBy >= 0 && o.LateBy <= 3600):
		return invalidField("body.lateBy", "must be from 0 to 3600")
	}
	c.sim.server.faults.orders = append(c.sim.server.faults.orders, o)
	return ok(o)
}

// letGo ends the wait of what is held back.
func (c controlAPI) letGo(*request) answer {
	c.sim.server.faults.letGo()
	return ok(struct{}{})
}

// setBucket sets what a bucket has left in its present window.
func (c controlAPI) setBucket(r *request) answer {
	var o struct {
		Remaining *int `json:"remaining"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	all := c.sim.buckets.all()
	i := slices.IndexFunc(all, func(b *bucket) bool { return b.name == r.PathValue("name") && !b.gauge })
	if i < 0 {
		return notFound("There is no such bucket; settable are mutations, reads, product-lookup and checkout-intents")
	}
	b := all[i]
	if o.Remaining == nil || *o.Remaining < 0 || *o.Remaining > b.limit {
		return invalidField("body.remaining", fmt.Sprintf("must be from 0 to %d", b.limit))
	}
	b.roll(b.time(&c.sim.agenda.clock))
	b.used = b.limit - *o.Remaining
	return ok(c.sim.buckets.summary(&c.sim.agenda.clock))
}

// registerEndpoint registers a webhook endpoint.
func (c controlAPI) registerEndpoint(r *request) answer {
	var o struct {
		URL     string `json:"url"`
		History bool   `json:"history"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	if err := checkWebhookURL(o.URL); err != nil {
		return invalidField("body.url", err.Error())
	}
	if c.sim.cfg.SigningSecret.IsZero() {
		return invalidField("body.url", "the simulator was started without a signing secret")
	}
	e := c.sim.webhooks.register(o.URL, o.History, c.sim.agenda.now())
	return created(e.summed())
}

// productChange is what is to become of a product. Zero fields leave it to the
// simulator.
type productChange struct {
	ProductURL   string           `json:"productUrl"`
	Topic        api.EventType    `json:"topic"`
	Price        *int64           `json:"price"` // cents
	Availability api.Availability `json:"availability"`
}

// changeProduct lets a product change, or be removed, and emits its event.
func (c controlAPI) changeProduct(r *request) answer {
	o := productChange{Topic: api.ProductUpdated}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	return c.productEvent(o)
}

func (c controlAPI) productEvent(o productChange) answer {
	updated := o.Topic == api.ProductUpdated
	switch {
	case !updated && o.Topic != api.ProductRemoved:
		return invalidField("body.topic", "must be product.updated or product.removed")
	case o.ProductURL != "" && !isWebAddress(o.ProductURL):
		return invalidField("body.productUrl", "must be absolute and begin with http:// or https://")
	case o.Price != nil && !(updated && *o.Price >= 0 && *o.Price <= math.MaxInt32):
		return invalidField("body.price", "must be cents from 0 to 2147483647, of product.updated")
	case o.Availability != "" && !(updated && slices.Contains(availabilities(), o.Availability)):
		return invalidField("body.availability", fmt.Sprintf("must be one of %v, of product.updated", availabilities()))
	}
	p := c.sim.catalogue.random(c.sim.shop.dice)
	if o.ProductURL != "" {
		p = c.sim.catalogue.find(o.ProductURL)
	}
	if !updated {
		e := c.sim.shop.removeProduct(p, c.sim.agenda.now())
		return created(e.wire())
	}
	if o.Price == nil && o.Availability == "" {
		p.revise(c.sim.shop.dice)
	}
	p.removed = false
	if o.Price != nil {
		p.Price = *o.Price
	}
	if o.Availability != "" {
		p.availability = o.Availability
	}
	e := c.sim.shop.updateProduct(p, c.sim.agenda.now())
	return created(e.wire())
}

func availabilities() []api.Availability {
	return []api.Availability{api.InStock, api.OutOfStock, api.Preorder, api.Backorder, "unknown"}
}
