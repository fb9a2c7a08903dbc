package simulator

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
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
	run func(*Simulator, *http.Request) answer
}

func controls() []control {
	return []control{
		{Control{"GET", "/control/state", "", "counts of everything, buckets, webhook endpoints with their last error"}, (*Simulator).controlState},
		{Control{"POST", "/control/intents", "productUrl, quantity, referenceId, state, failure, whilePlacing, purchase, offerAfter, placingAfter, confirmAfter (seconds)",
			"an intent with the fate of your choice"}, (*Simulator).controlIntent},
		{Control{"POST", "/control/intents/{id}/expire", "", "its confirm window closes now"}, (*Simulator).controlExpire},
		{Control{"POST", "/control/intents/{id}/finish", "", "the placing of its order ends now"}, (*Simulator).controlFinish},
		{Control{"POST", "/control/shipments/{id}/advance", "", "its next scan happens now"}, (*Simulator).controlAdvance},
		{Control{"POST", "/control/products/events", "productUrl, topic (product.updated or product.removed), price (cents), availability",
			"the product changes and its event is delivered"}, (*Simulator).controlProduct},
		{Control{"POST", "/control/webhook-endpoints", "url, history", "one more URL that events are delivered to, or the same verified anew"}, (*Simulator).controlEndpoint},
		{Control{"POST", "/control/failures", "count, status, path, method, after, drop, twice, lateBy (seconds)", "the next requests under a path go wrong"}, (*Simulator).controlFailures},
		{Control{"POST", "/control/failures/end", "", "what lateBy holds back goes on now"}, (*Simulator).controlLetGo},
		{Control{"PUT", "/control/buckets/{name}", "remaining", "what is left in mutations, reads, product-lookup or checkout-intents"}, (*Simulator).controlBucket},
	}
}

// Controls lists the endpoints of the control API.
func Controls() []Control {
	var all []Control
	for _, c := range controls() {
		all = append(all, c.Control)
	}
	return all
}

// addControl mounts the control API.
func (v *server) addControl() {
	for _, c := range controls() {
		v.mux.HandleFunc(c.Method+" "+c.Path, v.uncharged(c.run))
	}
	v.mux.HandleFunc("/control/", v.uncharged(func(_ *Simulator, r *http.Request) answer { return noSuchPath(r) }))
}

// uncharged answers a key that may use the control API.
func (v *server) uncharged(run func(*Simulator, *http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, a := v.authenticate(r)
		switch {
		case key == nil:
		case !key.allows(TestHelpersWrite):
			a = v.sim.forbid(key, TestHelpersWrite)
		default:
			a = run(v.sim, r)
		}
		write(w, r, quotaFields{}, a)
	}
}

func (s *Simulator) controlState(*http.Request) answer { return ok(s.Summary()) }

// readControl reads a body with known keys only.
func readControl(r *http.Request, into any) *answer {
	d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil && err != io.EOF {
		a := invalidField("body", err.Error())
		return &a
	}
	return nil
}

// controlOrder is the body of POST /control/intents. Durations are in seconds at
// speed 1.
type controlOrder struct {
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

func (s *Simulator) controlIntent(r *http.Request) answer {
	var o controlOrder
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	id, err := s.CreateIntent(Order{
		ProductURL: o.ProductURL, Quantity: o.Quantity, ReferenceID: o.ReferenceID, State: o.State,
		Fate: Fate{Failure: o.Failure, WhilePlacing: o.WhilePlacing, Purchase: o.Purchase,
			OfferAfter: seconds(o.OfferAfter), PlacingAfter: seconds(o.PlacingAfter), ConfirmAfter: seconds(o.ConfirmAfter)},
	})
	if err != nil {
		return invalidField("body", err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return created(s.intents[id].intentWire)
}

// controlExpire closes the confirm window of an intent at once.
func (s *Simulator) controlExpire(r *http.Request) answer {
	return s.ofIntent(func(in *intent) answer {
		s.expire(in, time.Now())
		return ok(in.intentWire)
	})(r)
}

// controlFinish ends the placing of an order at once.
func (s *Simulator) controlFinish(r *http.Request) answer {
	return s.ofIntent(func(in *intent) answer {
		s.endPlacing(in, time.Now())
		return ok(in.intentWire)
	})(r)
}

// controlAdvance makes the next scan of a shipment happen now.
func (s *Simulator) controlAdvance(r *http.Request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, known := s.parcels[r.PathValue("id")]
	if !known {
		return notFound("Shipment not found")
	}
	s.advance(sh, time.Now())
	return ok(sh.shipmentWire)
}

// controlFailures makes the next requests fail.
func (s *Simulator) controlFailures(r *http.Request) answer {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.orders = append(s.faults.orders, o)
	return ok(o)
}

// controlLetGo ends the wait of what is held back.
func (s *Simulator) controlLetGo(*http.Request) answer {
	s.LetGo()
	return ok(struct{}{})
}

// controlBucket sets what a bucket has left in its present window.
func (s *Simulator) controlBucket(r *http.Request) answer {
	var o struct {
		Remaining *int `json:"remaining"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	b := s.buckets.named(r.PathValue("name"))
	if b == nil || b == &s.buckets.agents {
		return notFound("There is no such bucket; settable are mutations, reads, product-lookup and checkout-intents")
	}
	if o.Remaining == nil || *o.Remaining < 0 || *o.Remaining > b.limit {
		return invalidField("body.remaining", fmt.Sprintf("must be from 0 to %d", b.limit))
	}
	b.roll(now)
	b.used = b.limit - *o.Remaining
	return ok(s.buckets.summary(now, s.placing()))
}

// controlEndpoint registers a webhook endpoint.
func (s *Simulator) controlEndpoint(r *http.Request) answer {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.SigningSecret.IsZero() {
		return invalidField("body.url", "the simulator was started without a signing secret")
	}
	e := s.register(o.URL, o.History, time.Now())
	return created(e.summary())
}

// controlProduct lets a product change, or be removed, and emits its event.
func (s *Simulator) controlProduct(r *http.Request) answer {
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
	s.mu.Lock()
	defer s.mu.Unlock()
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
