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
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// controlAPI implements the control API, which is not part of the contract. It needs a key of the account, charges
// nothing and sends no RateLimit fields.
type controlAPI struct{ sim *Simulator }

// Control is an endpoint of the control API.
type Control struct {
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Does   string   `json:"does"`
	Takes  []string `json:"takes,omitempty"` // the fields of its JSON body, or else its query parameters

	run operation
}

// Controls lists the endpoints of the control API.
func Controls() []Control { return controlAPI{}.controls() }

func (c controlAPI) controls() []Control {
	return []Control{
		{"GET", "/control", "lists these requests, and the names in magic URLs", nil, c.index},
		{"GET", "/control/state", "counts, limits, the clock and the webhook endpoints with their last errors", nil, c.state},
		{"POST", "/control/intents", "makes an intent, in any state, that ends as you choose",
			[]string{"productUrl", "quantity", "referenceId", "state", "failure", "purchase"}, c.createIntent},
		{"GET", "/control/intents/{id}", "an intent with its parcels, its events and the number of its orders", nil,
			ofIntent(c.sim, c.intentFile)},
		{"POST", "/control/intents/{id}", "moves it to a state, by default the next one, or fails it: now, or once it " +
			"is placed if `to` is a state before", []string{"to", "failure"}, ofIntent(c.sim, c.moveIntent)},
		{"POST", "/control/shipments/{id}", "scans a parcel; with the id of an intent, ships its next parcel", nil, c.scan},
		{"PUT", "/control/products", "changes a product, at random unless you say how; the answer is its event",
			[]string{"url", "price", "availability", "removed"}, c.changeProduct},
		{"POST", "/control/webhook-endpoints", "registers a URL for events, which is then challenged",
			[]string{"url", "history"}, c.registerEndpoint},
		{"GET", "/control/deliveries", "deliveries with their answers, the newest first", []string{"event", "limit"},
			c.deliveries},
		{"POST", "/control/faults", "makes the next requests, or deliveries of an `event`, fail, break off, come late or twice",
			[]string{"count", "path", "method", "status", "after", "event", "source", "drop", "twice", "lateBy"}, c.orderFault},
		{"DELETE", "/control/faults", "forgets them, and lets go what they hold back", nil, c.endFaults},
		{"PUT", "/control/buckets/{name}", "sets the limit of a bucket (-1: none) and what it has left",
			[]string{"limit", "remaining"}, c.setBucket},
		{"PUT", "/control/clock", "moves the service's own clock ahead; answers once everything due has happened",
			[]string{"forward", "to"}, c.moveClock},
		{"GET", "/control/snapshot", "the whole state, to begin with: simulate --from", nil, c.snapshot},
	}
}

// run answers a request, and refuses unknown query parameters.
func (c Control) answer(r *request) answer {
	for name := range r.URL.Query() {
		if c.Method != http.MethodGet || !slices.Contains(c.Takes, name) {
			return invalidField(name, "there is no such parameter")
		}
	}
	return c.run(r)
}

// readControl decodes a body and refuses unknown keys.
func readControl(r *request, into any) *answer {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		if _, behind := d.Token(); behind == io.EOF {
			return nil
		}
		err = errors.New("there is more after the JSON value")
	}
	a := invalidField("body", err.Error())
	var mistyped *json.UnmarshalTypeError
	var timeless *time.ParseError
	switch {
	case errors.As(err, &mistyped):
		// Bodies are flat: before the name stands an embedded struct.
		field := mistyped.Field[strings.LastIndexByte(mistyped.Field, '.')+1:]
		a = invalidField(strings.TrimSuffix("body."+field, "."), "invalid value of type "+mistyped.Value)
	case errors.As(err, &timeless):
		a = invalidField("body", fmt.Sprintf("%q is not a time such as 2026-03-01T12:00:00Z", timeless.Value))
	}
	return &a
}

// index answers with what a person needs to know about the stand-in.
func (c controlAPI) index(*request) answer {
	return ok(struct {
		Requests []Control         `json:"requests"`
		Magics   []Magic           `json:"magicUrls"`
		Failures []api.FailureCode `json:"failures"`
	}{Controls(), Magics(), FailureCodes()})
}

func (c controlAPI) state(*request) answer { return ok(c.sim.summary()) }

// createIntent makes an intent without charging a bucket.
func (c controlAPI) createIntent(r *request) answer {
	var o Order
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	in, err := c.sim.create(o)
	if err != nil {
		return invalidField("body", err.Error())
	}
	return created(in.intentWire)
}

// intentFile is everything about an intent.
type intentFile struct {
	Intent    intentWire     `json:"intent"`
	Orders    int            `json:"orders"` // number of orders placed for it
	Shipments []shipmentWire `json:"shipments"`
	Events    []eventWire    `json:"events"` // of it and its shipments, oldest first
}

func (c controlAPI) intentFile(_ *request, in *intent) answer {
	file := intentFile{in.intentWire, in.Orders, []shipmentWire{}, []eventWire{}}
	sources := []string{in.ID}
	for _, sh := range c.sim.fulfilment.shipments.items {
		if sh.intent == in {
			file.Shipments = append(file.Shipments, sh.shipmentWire)
			sources = append(sources, sh.ID)
		}
	}
	for _, e := range c.sim.webhooks.events.items {
		if slices.Contains(sources, e.source) {
			file.Events = append(file.Events, e.wire())
		}
	}
	return ok(file)
}

func (c controlAPI) moveIntent(r *request, in *intent) answer {
	var o struct {
		To      api.IntentState `json:"to"`
		Failure api.FailureCode `json:"failure"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	if _, known := failureKinds()[o.Failure]; o.Failure != "" && !known {
		return invalidField("body.failure", "must be one of "+listed(FailureCodes()))
	}
	if o.To != "" && !o.To.Known() {
		return invalidField("body.to", "must be one of "+listed(api.IntentStates()))
	}
	if refusal := c.sim.fulfilment.move(in, o.To, o.Failure, c.sim.agenda.now()); refusal != "" {
		return wrongState(refusal, in.State)
	}
	return ok(in.intentWire)
}

// scan makes the next scan of a shipment, or ships the next one of an intent.
func (c controlAPI) scan(r *request) answer {
	f, id := &c.sim.fulfilment, r.PathValue("id")
	sh := f.parcels[id]
	switch in := f.intents[id]; {
	case sh != nil && sh.done < len(sh.Legs):
		f.advance(sh, c.sim.agenda.now())
	case sh != nil:
		return refused(http.StatusConflict, "ConflictError", "The parcel is "+string(sh.Status)+": nothing is left to scan")
	case in == nil:
		return notFound("There is no such shipment or intent")
	default:
		if sh = f.shipNext(in, c.sim.agenda.now()); sh == nil {
			return refused(http.StatusConflict, "ConflictError", "Nothing of the intent is left to ship: it is "+string(in.State))
		}
	}
	return ok(sh.shipmentWire)
}

func (c controlAPI) changeProduct(r *request) answer {
	var o struct {
		URL          string           `json:"url"`
		Price        *int64           `json:"price"` // cents
		Availability api.Availability `json:"availability"`
		Removed      bool             `json:"removed"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	known := []api.Availability{api.InStock, api.OutOfStock, api.Preorder, api.Backorder, "unknown"}
	switch {
	case o.Removed && (o.Price != nil || o.Availability != ""):
		return invalidField("body.removed", "goes with neither price nor availability")
	case o.URL != "" && !isWebAddress(o.URL):
		return invalidField("body.url", "must be absolute and begin with http:// or https://")
	case o.Price != nil && !(*o.Price >= 0 && *o.Price <= math.MaxInt32):
		return invalidField("body.price", "must be cents from 0 to 2147483647")
	case o.Availability != "" && !slices.Contains(known, o.Availability):
		return invalidField("body.availability", "must be one of "+listed(known))
	}
	s, now := &c.sim.shop, c.sim.agenda.now()
	p := c.sim.catalogue.random(s.dice)
	if o.URL != "" {
		p = c.sim.catalogue.find(o.URL)
	}
	if o.Removed {
		e := s.removeProduct(p, now)
		return ok(e.wire())
	}
	if o.Price == nil && o.Availability == "" {
		p.revise(s.dice)
	}
	p.removed = false
	if o.Price != nil {
		p.Price = *o.Price
	}
	if o.Availability != "" {
		p.availability = o.Availability
	}
	e := s.updateProduct(p, now)
	return ok(e.wire())
}

func (c controlAPI) registerEndpoint(r *request) answer {
	var o struct {
		URL     string `json:"url"`
		History bool   `json:"history"` // deliver all events since the start, too
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
	return created(struct {
		EndpointSummary
		Challenge eventWire `json:"challenge"`
	}{e.EndpointSummary, e.challenge.wire()})
}

// deliveries lists deliveries with their answers, the newest first.
func (c controlAPI) deliveries(r *request) answer {
	q := r.URL.Query()
	limit := 100
	if text := q.Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > keptDeliveries {
			return invalidField("limit", "must be a whole number from 1 to "+strconv.Itoa(keptDeliveries))
		}
	}
	return ok(c.sim.webhooks.sent.newest(q.Get("event"), limit))
}

func (c controlAPI) orderFault(r *request) answer {
	o := faultOrder{Count: 1}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	if field, wrong := c.sim.faults.order(&o); wrong != "" {
		return invalidField(field, wrong)
	}
	return ok(o)
}

func (c controlAPI) endFaults(*request) answer {
	c.sim.faults.end()
	return ok(struct{}{})
}

func (c controlAPI) snapshot(*request) answer { return ok(c.sim.snapshot()) }
