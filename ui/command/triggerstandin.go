package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
)

// happening makes an event happen in a stand-in, by its control API.
type happening struct {
	ctx    context.Context
	client *api.Client
	kind   api.EventType
	source string // id of the intent, parcel or endpoint; "": a new one

	product, reference, failure, availability string
	price                                     any
}

// happen makes the stand-in do what the event reports, and reports its endpoints' answers.
func (t *triggering) happen(ctx context.Context, s settings, std streams) (report, error) {
	if s.APIURL == "" {
		return nil, usagef("where to? give --to with an endpoint, or --api-url with a stand-in's address (tillwatch simulate)")
	}
	h, err := t.happening()
	if err != nil {
		return nil, usage(err)
	}
	h.ctx = ctx
	if h.client, err = standInClient(s); err != nil {
		return nil, err
	}
	defer h.client.Close()
	event, err := h.happens()
	if err != nil {
		return nil, onStandIn(err)
	}
	decoded, err := api.DecodeEvent(event)
	if err != nil {
		return nil, err
	}
	all, err := deliveriesOf(ctx, h.client, decoded.ID)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		std.say("it was not delivered: the stand-in has no endpoint that answered its challenge (tillwatch simulate --webhook-url)")
	}
	return triggered(event, all)
}

// happening reads what --set asks of the stand-in; only some fields can be set there.
func (t *triggering) happening() (*happening, error) {
	h := &happening{kind: t.kind.Type, source: t.source(), product: t.product, reference: t.reference, failure: t.failure}
	for _, set := range t.set {
		path, value, _ := strings.Cut(set, "=")
		switch ofProduct := t.kind.Type == api.ProductUpdated; {
		case path == "source.id":
		case ofProduct && path == "data.url":
			h.product = fmt.Sprint(jsonValue(value))
		case ofProduct && path == "data.availability":
			h.availability = fmt.Sprint(jsonValue(value))
		case ofProduct && path == "data.price":
			h.price = jsonValue(value)
		default:
			return nil, fmt.Errorf("--set %s: the stand-in makes its own events, and takes only source.id, and of product.updated data.price, "+
				"data.availability and data.url; to send any other body give --to", path)
		}
	}
	return h, nil
}

// asks sends a request to the stand-in. Empty fields are left out.
func (h *happening) asks(method, path string, fields map[string]string, into any) error {
	body := map[string]any{}
	for name, value := range fields {
		if value != "" {
			body[name] = value
		}
	}
	return h.client.Control(h.ctx, method, path, body, into)
}

// happens makes it happen and returns the event.
func (h *happening) happens() (event json.RawMessage, err error) {
	group, _, _ := strings.Cut(string(h.kind), ".")
	switch api.SourceType(group) {
	case api.SourceProduct:
		body := map[string]any{"removed": h.kind == api.ProductRemoved, "url": h.product, "availability": h.availability, "price": h.price}
		err = h.client.Control(h.ctx, http.MethodPut, "/control/products", body, &event)
		return event, err
	case api.SourceWebhookEndpoint:
		return h.challenge()
	case api.SourceShipment:
		return h.ship()
	}
	in, err := h.subject()
	if err != nil {
		return nil, err
	}
	move := func(to api.IntentState, failure string) error {
		return h.asks(http.MethodPost, in.path(), map[string]string{"to": string(to), "failure": failure}, in)
	}
	switch {
	case h.kind == api.OfferRetrieved:
		err = move(api.AwaitingConfirmation, "")
	case h.kind == api.IntentCompleted:
		err = move(api.Completed, "")
	case h.kind == api.OfferFailed && in.State == api.RetrievingOffer:
		err = move(api.Failed, h.failure)
	case h.kind == api.OrderFailed && !in.State.Terminal():
		if in.State != api.PlacingOrder {
			err = move(api.PlacingOrder, "")
		}
		if err == nil {
			err = move(api.Failed, h.failure)
		}
	default:
		err = fmt.Errorf("%s does not happen to %s: it is %s", h.kind, in.ID, in.State)
	}
	if err != nil {
		return nil, err
	}
	return h.newest(in, in.ID)
}

// standInIntent is an intent as the stand-in answers it.
type standInIntent struct {
	ID    string
	State api.IntentState
}

func (in *standInIntent) path() string { return "/control/intents/" + url.PathEscape(in.ID) }

// subject is the intent that it happens to, or a new one.
func (h *happening) subject() (*standInIntent, error) {
	if h.source == "" {
		in := &standInIntent{}
		err := h.asks(http.MethodPost, "/control/intents", map[string]string{"productUrl": h.product, "referenceId": h.reference}, in)
		return in, err
	}
	var file struct{ Intent standInIntent }
	in := &standInIntent{ID: h.source}
	err := h.client.Control(h.ctx, http.MethodGet, in.path(), nil, &file)
	return &file.Intent, err
}

// newest is the newest event of the kind about a source, an intent or one of its parcels.
func (h *happening) newest(in *standInIntent, source string) (json.RawMessage, error) {
	var file struct {
		Intent standInIntent
		Events []json.RawMessage
	}
	if err := h.client.Control(h.ctx, http.MethodGet, in.path(), nil, &file); err != nil {
		return nil, err
	}
	for _, event := range slices.Backward(file.Events) {
		if e, err := api.DecodeEvent(event); err == nil && e.Type == h.kind && string(e.Source.ID) == source {
			return event, nil
		}
	}
	return nil, fmt.Errorf("%s does not happen to %s: it is %s", h.kind, in.ID, file.Intent.State)
}

// ship ships a parcel of a completed order, or scans one. Without an order, or without a parcel, it makes one first.
func (h *happening) ship() (json.RawMessage, error) {
	var parcel struct{ ID, CheckoutIntentID string }
	scan := func(id string) error {
		return h.client.Control(h.ctx, http.MethodPost, "/control/shipments/"+url.PathEscape(id), nil, &parcel)
	}
	if strings.HasPrefix(h.source, "shp_") && h.kind == api.ShipmentUpdated {
		if err := scan(h.source); err != nil {
			return nil, err
		}
		return h.newest(&standInIntent{ID: parcel.CheckoutIntentID}, parcel.ID)
	}
	in, err := h.subject()
	if err == nil && !in.State.Terminal() {
		err = h.asks(http.MethodPost, in.path(), map[string]string{"to": string(api.Completed)}, in)
	}
	var file struct {
		Shipments []struct {
			ID     string
			Status api.ShipmentStatus
		}
	}
	if err == nil {
		err = h.client.Control(h.ctx, http.MethodGet, in.path(), nil, &file)
	}
	if err != nil {
		return nil, err
	}
	for _, known := range file.Shipments {
		if h.kind == api.ShipmentUpdated && known.Status != api.Delivered && known.Status != api.Canceled {
			parcel.ID = known.ID
			break
		}
	}
	if parcel.ID == "" {
		err = scan(in.ID) // ships it
	}
	if err == nil && h.kind == api.ShipmentUpdated {
		err = scan(parcel.ID)
	}
	if err != nil {
		return nil, err
	}
	return h.newest(in, parcel.ID)
}

// challenge registers a webhook URL again: the service then sends its challenge.
func (h *happening) challenge() (json.RawMessage, error) {
	var state struct{ WebhookEndpoints []struct{ ID, URL string } }
	if err := h.client.Control(h.ctx, http.MethodGet, "/control/state", nil, &state); err != nil {
		return nil, err
	}
	for _, e := range state.WebhookEndpoints {
		if h.source == "" || h.source == e.ID {
			var saved struct{ Challenge json.RawMessage }
			err := h.asks(http.MethodPost, "/control/webhook-endpoints", map[string]string{"url": e.URL}, &saved)
			return saved.Challenge, err
		}
	}
	return nil, fmt.Errorf("the stand-in has no such webhook endpoint")
}

// standInClient makes a client of the configured stand-in. Only its first answer shows whether it is one.
func standInClient(s settings) (*api.Client, error) {
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	return newClient(s, api.Config{Timeout: time.Minute}) // moving the clock by weeks takes its time
}

// deliveriesOf waits until each endpoint of a stand-in has answered an event. An endpoint that was
// registered just now gets it once it has answered its challenge.
func deliveriesOf(ctx context.Context, client *api.Client, event api.ID) ([]delivery.Delivery, error) {
	for began := time.Now(); ; {
		var all []delivery.Delivery
		if err := client.Control(ctx, http.MethodGet, "/control/deliveries?event="+url.QueryEscape(string(event)), nil, &all); err != nil {
			return nil, err
		}
		open := func(d delivery.Delivery) bool {
			return d.State != delivery.Lost && (d.State == delivery.Sending || d.Attempts == 0)
		}
		waited := time.Since(began)
		if len(all) > 0 && !slices.ContainsFunc(all, open) || len(all) == 0 && waited > time.Second || waited > 6*time.Second {
			return all, nil
		}
		if err := api.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
