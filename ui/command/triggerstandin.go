package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/ui/session"
)

// happen makes the stand-in do what the event reports, and reports its endpoints' answers.
func (t *triggering) happen(ctx context.Context, s settings, std streams) (report, error) {
	if s.APIURL == "" {
		return nil, usagef("where to? give --to with an endpoint, or --api-url with a stand-in's address " +
			"(tillwatch simulate)")
	}
	change, err := t.change()
	if err != nil {
		return nil, usage(err)
	}
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	client, err := session.NewClient(s, api.Config{})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	event, err := standIn{client}.happens(ctx, t, change)
	if err != nil {
		return nil, onStandIn(err)
	}
	decoded, err := api.DecodeEvent(event)
	if err != nil {
		return nil, err
	}
	all, err := standIn{client}.deliveries(ctx, decoded.ID)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		std.say("it was not delivered: the stand-in has no endpoint that answered its challenge " +
			"(tillwatch simulate --webhook-url)")
	}
	return triggered(event, all)
}

// change is the change of a product that --set asks for. The stand-in makes its own events: nothing else
// can be set but their source.
func (t *triggering) change() (map[string]any, error) {
	change := map[string]any{"removed": t.kind.Type == api.ProductRemoved, "url": t.product}
	names := map[string]string{"data.url": "url", "data.availability": "availability", "data.price": "price"}
	for _, set := range t.set {
		path, value, _ := strings.Cut(set, "=")
		name := names[path]
		if path != "source.id" && (name == "" || t.kind.Type != api.ProductUpdated) {
			return nil, fmt.Errorf("--set %s: the stand-in makes its own events, and takes only source.id, and of "+
				"product.updated data.price, data.availability and data.url; to send any other body give --to", path)
		}
		if name != "" {
			change[name] = jsonValue(value)
		}
	}
	return change, nil
}

// standIn is a stand-in's control API.
type standIn struct{ *api.Client }

// standInIntent is an intent as the stand-in answers it.
type standInIntent struct {
	ID    string
	State api.IntentState
}

func intentPath(id string) string { return "/control/intents/" + url.PathEscape(id) }

// happens makes an event happen, and returns it.
func (c standIn) happens(ctx context.Context, t *triggering, change map[string]any) (json.RawMessage, error) {
	var event json.RawMessage
	group, _, _ := strings.Cut(string(t.kind.Type), ".")
	switch source := api.SourceType(group); {
	case source == api.SourceProduct:
		err := c.Control(ctx, http.MethodPut, "/control/products", change, &event)
		return event, err
	case source == api.SourceWebhookEndpoint:
		return c.challenge(ctx, t.source())
	case source == api.SourceShipment && strings.HasPrefix(t.source(), "shp_"):
		return c.scan(ctx, t, t.source())
	}
	in, err := c.subject(ctx, t)
	if err != nil {
		return nil, err
	}
	move := func(to api.IntentState, failure string) {
		if err == nil {
			err = c.Control(ctx, http.MethodPost, intentPath(in.ID), map[string]any{"to": to, "failure": failure}, &in)
		}
	}
	switch t.kind.Type {
	case api.OfferRetrieved:
		move(api.AwaitingConfirmation, "")
	case api.IntentCompleted:
		move(api.Completed, "")
	case api.OfferFailed:
		if in.State != api.RetrievingOffer {
			return nil, fmt.Errorf("%s does not happen to %s: it is %s", t.kind.Type, in.ID, in.State)
		}
		move(api.Failed, t.failure)
	case api.OrderFailed:
		if in.State.Rank() < api.PlacingOrder.Rank() {
			move(api.PlacingOrder, "")
		}
		move(api.Failed, t.failure)
	default: // of a parcel
		if !in.State.Terminal() {
			move(api.Completed, "")
		}
		if err == nil {
			return c.scan(ctx, t, in.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	return c.newest(ctx, t.kind.Type, in.ID, in.ID)
}

// subject is the intent that it happens to: the given one, or a new one.
func (c standIn) subject(ctx context.Context, t *triggering) (in standInIntent, err error) {
	if t.source() == "" {
		order := map[string]any{"productUrl": t.product, "referenceId": t.reference}
		err = c.Control(ctx, http.MethodPost, "/control/intents", order, &in)
		return in, err
	}
	var file struct{ Intent standInIntent }
	err = c.Control(ctx, http.MethodGet, intentPath(t.source()), nil, &file)
	return file.Intent, err
}

// newest is the newest event of a type about a source: an intent, or one of its parcels.
func (c standIn) newest(ctx context.Context, kind api.EventType, intent, source string) (json.RawMessage, error) {
	var file struct{ Events []json.RawMessage }
	if err := c.Control(ctx, http.MethodGet, intentPath(intent), nil, &file); err != nil {
		return nil, err
	}
	for _, event := range slices.Backward(file.Events) {
		if e, err := api.DecodeEvent(event); err == nil && e.Type == kind && string(e.Source.ID) == source {
			return event, nil
		}
	}
	return nil, fmt.Errorf("%s did not happen to %s", kind, source)
}

// scan scans a parcel, or ships the next one of an intent; and scans that, too, for an update.
func (c standIn) scan(ctx context.Context, t *triggering, id string) (json.RawMessage, error) {
	var parcel struct{ ID, CheckoutIntentID string }
	err := c.Control(ctx, http.MethodPost, "/control/shipments/"+url.PathEscape(id), nil, &parcel)
	if err == nil && t.kind.Type == api.ShipmentUpdated && parcel.ID != id {
		return c.scan(ctx, t, parcel.ID)
	}
	if err != nil {
		return nil, err
	}
	return c.newest(ctx, t.kind.Type, parcel.CheckoutIntentID, parcel.ID)
}

// challenge registers a webhook endpoint again: the stand-in then sends its challenge. "" means any.
func (c standIn) challenge(ctx context.Context, id string) (json.RawMessage, error) {
	var state struct{ WebhookEndpoints []struct{ ID, URL string } }
	if err := c.Control(ctx, http.MethodGet, "/control/state", nil, &state); err != nil {
		return nil, err
	}
	for _, e := range state.WebhookEndpoints {
		if id == "" || id == e.ID {
			var saved struct{ Challenge json.RawMessage }
			err := c.Control(ctx, http.MethodPost, "/control/webhook-endpoints", map[string]any{"url": e.URL}, &saved)
			return saved.Challenge, err
		}
	}
	return nil, errors.New("the stand-in has no such webhook endpoint")
}

// deliveries waits until each endpoint has answered an event. One that was registered just now gets it
// once it has answered its challenge.
func (c standIn) deliveries(ctx context.Context, event api.ID) ([]delivery.Delivery, error) {
	for began := time.Now(); ; {
		var all []delivery.Delivery
		path := "/control/deliveries?event=" + url.QueryEscape(string(event))
		if err := c.Control(ctx, http.MethodGet, path, nil, &all); err != nil {
			return nil, err
		}
		open := len(all) == 0 && time.Since(began) < time.Second
		for _, d := range all {
			open = open || d.State == delivery.Sending || d.State != delivery.Lost && d.Attempts == 0
		}
		if !open || time.Since(began) > 6*time.Second {
			return all, nil
		}
		if err := api.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
