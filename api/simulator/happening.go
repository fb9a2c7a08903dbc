package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// happening describes what is to happen now, by its event: the body of POST
// /control/events. The simulator chooses zero fields.
type happening struct {
	Type         api.EventType    `json:"type"`
	Source       string           `json:"source"` // id of the intent, shipment or webhook endpoint; a shipment event also takes an intent; "": a new one
	ProductURL   string           `json:"productUrl"`
	Quantity     int              `json:"quantity"`
	ReferenceID  string           `json:"referenceId"`
	Failure      api.FailureCode  `json:"failure"`
	Price        *int64           `json:"price"` // cents
	Availability api.Availability `json:"availability"`
}

// happen makes the thing happen that an event reports, and answers with the event, which
// is delivered like any other.
func (c controlAPI) happen(_ *request, h happening) answer {
	if !slices.Contains(api.EventTypes(), h.Type) {
		return invalidField("body.type", "must be one of "+List(api.EventTypes(), "and"))
	}
	group, _, _ := strings.Cut(string(h.Type), ".")
	if group != string(api.SourceProduct) && (h.Price != nil || h.Availability != "") {
		return invalidField("body", "price and availability are of product events")
	}
	if _, known := failureKinds()[h.Failure]; h.Failure != "" && (!known || h.Type != api.OfferFailed && h.Type != api.OrderFailed) {
		return invalidField("body.failure", fmt.Sprintf("must be one of %s, of %s or %s", List(FailureCodes(), "and"), api.OfferFailed, api.OrderFailed))
	}
	if h.Source != "" && (h.ProductURL != "" || h.Quantity != 0 || h.ReferenceID != "") {
		return invalidField("body.source", "productUrl, quantity and referenceId are for a new intent: leave out either source or them")
	}
	now := c.sim.agenda.now()
	switch api.SourceType(group) {
	case api.SourceIntent:
		return c.happenToIntent(h, now)
	case api.SourceShipment:
		return c.happenToShipment(h, now)
	case api.SourceWebhookEndpoint:
		return c.challenge(h, now)
	}
	return c.happenToProduct(h)
}

// newestEvent answers with the newest event of a type and a source, if it happened since
// the log had before events.
func (c controlAPI) newestEvent(kind api.EventType, source string, before int) answer {
	for _, e := range slices.Backward(c.sim.webhooks.events.since(before)) {
		if e.kind == kind && e.source == source {
			return created(e.wire())
		}
	}
	return refused(http.StatusConflict, "ConflictError", fmt.Sprintf("%s does not happen to %s now", kind, source))
}

// subject returns the intent that something is to happen to, or creates one.
func (c controlAPI) subject(h happening) (*intent, *answer) {
	if h.Source != "" {
		if in := c.sim.fulfilment.intents[h.Source]; in != nil {
			return in, nil
		}
		a := notFound("No such source: the event needs the id of an intent, a shipment or a webhook endpoint")
		return nil, &a
	}
	h.ProductURL = cmp.Or(h.ProductURL, c.sellable().url())
	in, err := c.sim.shop.createOrder(Order{ProductURL: h.ProductURL, Quantity: h.Quantity, ReferenceID: h.ReferenceID})
	if err != nil {
		a := invalidField("body", err.Error())
		return nil, &a
	}
	return in, nil
}

// sellable draws a product that can be ordered and shipped.
func (c controlAPI) sellable() *product {
	p := c.sim.catalogue.random(c.sim.shop.dice)
	for tries := 0; tries < 100 && (p.Digital || p.removed || p.availability != api.InStock); tries++ {
		p = c.sim.catalogue.random(c.sim.shop.dice)
	}
	return p
}

// happenToIntent moves an intent to the state that the event reports.
func (c controlAPI) happenToIntent(h happening, now time.Time) answer {
	in, refusal := c.subject(h)
	if refusal != nil {
		return *refusal
	}
	before, fate := c.sim.webhooks.events.made(), &in.Fate
	to := api.Completed
	switch h.Type {
	case api.OfferRetrieved:
		to = api.AwaitingConfirmation
		if !fate.WhilePlacing {
			fate.Failure = ""
		}
	case api.OfferFailed:
		to = api.AwaitingConfirmation // it fails on the way
		fate.Failure, fate.WhilePlacing = cmp.Or(h.Failure, fate.Failure, "offer_retrieval_failed"), false
	case api.OrderFailed:
		fate.Failure, fate.WhilePlacing = cmp.Or(h.Failure, fate.Failure, "order_placement_failed"), true
	default:
		fate.Failure = ""
	}
	state := in.State
	c.sim.fulfilment.bring(in, to, now)
	a := c.newestEvent(h.Type, in.ID, before)
	if a.status == http.StatusConflict {
		reason := ""
		if in.FailureReason != nil {
			reason = fmt.Sprintf(" (%s)", in.FailureReason.Code)
		}
		a = wrongState(fmt.Sprintf("%s does not happen to an intent that was %s: it is %s%s", h.Type, state, in.State, reason), in.State)
	}
	return a
}

// happenToShipment ships a parcel of a completed order, or performs its next scan. If
// there is no order, it makes one; if there is no parcel, it ships one first.
func (c controlAPI) happenToShipment(h happening, now time.Time) answer {
	f := &c.sim.fulfilment
	sh := f.parcels[h.Source]
	if sh == nil {
		in, refusal := c.subject(h)
		if refusal != nil {
			return *refusal
		}
		f.bring(in, api.Completed, now)
		at := slices.IndexFunc(f.shipments.items, func(s *shipment) bool { return s.intent == in && s.done < len(s.Legs) })
		switch {
		case h.Type == api.ShipmentUpdated && at >= 0:
			sh = f.shipments.items[at]
		case in.State == api.Completed && in.Unshipped > 0:
			sh = f.shipNext(in, now)
		default:
			return refused(http.StatusConflict, "ConflictError", fmt.Sprintf("Nothing of %s is left to ship: it is %s, with %d parcels", in.ID, in.State, in.Parcels))
		}
		if h.Type == api.ShipmentCreated {
			return c.newestEvent(h.Type, sh.ID, 0)
		}
	}
	before := c.sim.webhooks.events.made()
	f.advance(sh, now)
	return c.newestEvent(h.Type, sh.ID, before)
}

// challenge registers a webhook URL again: the service then sends its challenge.
func (c controlAPI) challenge(h happening, now time.Time) answer {
	for _, e := range c.sim.webhooks.endpoints {
		if s := e.summed(); h.Source == "" || h.Source == s.ID {
			return created(c.sim.webhooks.register(s.URL, false, now).challenge.wire())
		}
	}
	return notFound("There is no such webhook endpoint")
}

// failureOrder says with what an intent is to fail.
type failureOrder struct {
	Failure api.FailureCode `json:"failure"`
}

// failIntent makes an intent fail with a reason: at once while its offer is retrieved or
// its order is placed, or if its confirm window is to close; otherwise once it is confirmed.
func (c controlAPI) failIntent(in *intent, o failureOrder) answer {
	if _, known := failureKinds()[o.Failure]; !known {
		return invalidField("body.failure", "must be one of "+List(FailureCodes(), "and"))
	}
	switch {
	case in.State.Terminal():
		return wrongState("Checkout intent has ended", in.State)
	case o.Failure == expired && in.State == api.PlacingOrder:
		return wrongState("Checkout intent has no confirm window any more", in.State)
	}
	in.Fate.Failure, in.Fate.WhilePlacing = o.Failure, in.State != api.RetrievingOffer
	switch {
	case o.Failure == expired:
		c.sim.fulfilment.expire(in)
	case in.State == api.RetrievingOffer:
		c.sim.fulfilment.endRetrieval(in, c.sim.agenda.now())
	default:
		c.sim.fulfilment.endPlacing(in, c.sim.agenda.now())
	}
	return ok(in.intentWire)
}

// intentFile is everything about an intent.
type intentFile struct {
	Intent    intentWire     `json:"intent"`
	Orders    int            `json:"orders"` // number of orders placed for it
	Shipments []shipmentWire `json:"shipments"`
	Events    []eventWire    `json:"events"` // of it and its shipments, oldest first
}

// intentFile answers with everything about an intent, and charges no quota.
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
