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
	"time"

	"tillwatch/api"
)

// Control is an endpoint of the control API, which is no part of the contract: it
// needs a key of the account, charges nothing and sends no RateLimit fields.
type Control struct {
	Method, Path string
	Body         string // the fields of its JSON
	Does         string
}

type control struct {
	Control
	run operation
}

func (s *Simulator) controls() []control {
	return []control{
		{Control{"GET", "/control/state", "", "counts of everything, buckets, webhook endpoints with their last error"}, s.controlState},
		{Control{"POST", "/control/intents", "productUrl, quantity, referenceId, state, failure, whilePlacing, purchase, offerAfter, placingAfter, confirmAfter (seconds)",
			"an intent with the fate of your choice"}, s.controlIntent},
		{Control{"POST", "/control/intents/{id}/expire", "", "its confirm window closes now"}, s.ofIntent(s.controlExpire)},
		{Control{"POST", "/control/intents/{id}/finish", "", "the placing of its order ends now"}, s.ofIntent(s.controlFinish)},
		{Control{"POST", "/control/shipments/{id}/advance", "", "its next scan happens now"}, s.ofShipment(s.controlAdvance)},
		{Control{"POST", "/control/products/events", "productUrl, topic (product.updated or product.removed), price (cents), availability",
			"the product changes and its event is delivered"}, s.controlProduct},
		{Control{"POST", "/control/webhook-endpoints", "url, history", "one more URL that events are delivered to, or the same verified anew"}, s.controlEndpoint},
		{Control{"POST", "/control/failures", "count, status, path, method, after, drop, twice, lateBy (seconds)", "the next requests under a path go wrong"}, s.controlFailures},
		{Control{"POST", "/control/failures/end", "", "what lateBy holds back goes on now"}, s.controlLetGo},
		{Control{"PUT", "/control/buckets/{name}", "remaining", "what is left in mutations, reads, product-lookup or checkout-intents"}, s.controlBucket},
	}
}

// Controls lists the endpoints of the control API.
func Controls() []Control {
	var all []Control
	for _, c := range new(Simulator).controls() {
		all = append(all, c.Control)
	}
	return all
}

func (s *Simulator) controlState(*request) answer { return ok(s.summary(time.Now())) }

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

func (s *Simulator) controlIntent(r *request) answer {
	var o struct { // durations are in seconds at speed 1
		ProductURL   string          `json:"productUrl"`
		Quantity     int             `json:"quantity"`
		ReferenceID  string          `json:"referenceId"`
		State        api.IntentState `json:"state"`
		Failure      api.FailureCode `json:"failure"`
		WhilePlacing bool            `json:"whilePlacing"`
		Purchase     bool            `json:"purchase"`
		OfferAfter   float64         `json:"offerAfter"`
		PlacingAfter float64         `json:"placingAfter"`
		ConfirmAfter float64         `json:"confirmAfter"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	in, err := s.createOrder(Order{
		ProductURL: o.ProductURL, Quantity: o.Quantity, ReferenceID: o.ReferenceID, State: o.State,
		Fate: Fate{Failure: o.Failure, WhilePlacing: o.WhilePlacing, Purchase: o.Purchase,
			OfferAfter: seconds(o.OfferAfter), PlacingAfter: seconds(o.PlacingAfter), ConfirmAfter: seconds(o.ConfirmAfter)},
	})
	if err != nil {
		return invalidField("body", err.Error())
	}
	return created(in.intentWire)
}

// controlExpire closes the confirm window of an intent at once.
func (s *Simulator) controlExpire(_ *request, in *intent) answer {
	s.expire(in, time.Now())
	return ok(in.intentWire)
}

// controlFinish ends the placing of an order at once.
func (s *Simulator) controlFinish(_ *request, in *intent) answer {
	s.endPlacing(in, time.Now())
	return ok(in.intentWire)
}

// controlAdvance makes the next scan of a shipment happen now.
func (s *Simulator) controlAdvance(sh *shipment) answer {
	s.advance(sh, time.Now())
	return ok(sh.shipmentWire)
}

// controlFailures makes the next requests fail.
func (s *Simulator) controlFailures(r *request) answer {
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
	s.faults.orders = append(s.faults.orders, o)
	return ok(o)
}

// controlLetGo ends the wait of what is held back.
func (s *Simulator) controlLetGo(*request) answer {
	s.letGo()
	return ok(struct{}{})
}

// controlBucket sets what a bucket has left in its present window.
func (s *Simulator) controlBucket(r *request) answer {
	var o struct {
		Remaining *int `json:"remaining"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	now := time.Now()
	all := s.buckets.all()
	i := slices.IndexFunc(all, func(b *bucket) bool { return b.name == r.PathValue("name") && !b.gauge })
	if i < 0 {
		return notFound("There is no such bucket; settable are mutations, reads, product-lookup and checkout-intents")
	}
	b := all[i]
	if o.Remaining == nil || *o.Remaining < 0 || *o.Remaining > b.limit {
		return invalidField("body.remaining", fmt.Sprintf("must be from 0 to %d", b.limit))
	}
	b.roll(now)
	b.used = b.limit - *o.Remaining
	return ok(s.buckets.summary(now))
}

// controlEndpoint registers a webhook endpoint.
func (s *Simulator) controlEndpoint(r *request) answer {
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
	if s.cfg.SigningSecret.IsZero() {
		return invalidField("body.url", "the simulator was started without a signing secret")
	}
	e := s.register(o.URL, o.History, time.Now())
	return created(e.summed())
}

// controlProduct lets a product change, or be removed, and emits its event.
func (s *Simulator) controlProduct(r *request) answer {
	o := struct {
		ProductURL   string           `json:"productUrl"`
		Topic        api.EventType    `json:"topic"`
		Price        *int64           `json:"price"`
		Availability api.Availability `json:"availability"`
	}{Topic: api.ProductUpdated}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
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
	p := s.catalogue.random(s.shop.dice)
	if o.ProductURL != "" {
		p = s.catalogue.find(o.ProductURL)
	}
	if !updated {
		e := s.removeProduct(p, time.Now())
		return created(e.wire())
	}
	if o.Price == nil && o.Availability == "" {
		p.revise(s.shop.dice)
	}
	p.removed = false
	if o.Price != nil {
		p.Price = *o.Price
	}
	if o.Availability != "" {
		p.availability = o.Availability
	}
	e := s.updateProduct(p, time.Now())
	return created(e.wire())
}

func availabilities() []api.Availability {
	return []api.Availability{api.InStock, api.OutOfStock, api.Preorder, api.Backorder, "unknown"}
}
