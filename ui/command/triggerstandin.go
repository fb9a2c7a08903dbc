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

// happen makes the stand-in do what the event reports, and reports its endpoints' answers.
func (t *triggering) happen(ctx context.Context, s settings, std streams) (report, error) {
	if s.APIURL == "" {
		return nil, usagef("where to? give --to with an endpoint, or --api-url with a stand-in's address " +
			"(tillwatch simulate)")
	}
	for _, set := range t.set {
		if !strings.HasPrefix(set, "source.id=") {
			return nil, usagef("--set: the stand-in makes its own events, and takes only source.id: give --to to " +
				"send any body, or change a product with tillwatch api PUT /control/products price=1299")
		}
	}
	client, err := serviceClient(s)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	event, err := standIn{client}.happens(ctx, t)
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

// standIn is a stand-in's control API.
type standIn struct{ *api.Client }

// step is what an event reports of an intent: a new one starts in a state, and is then moved.
type step struct{ start, to api.IntentState }

func stepOf(kind api.EventType) step {
	return map[api.EventType]step{
		api.OfferRetrieved:  {api.RetrievingOffer, api.AwaitingConfirmation},
		api.OfferFailed:     {api.RetrievingOffer, api.Failed},
		api.IntentCompleted: {api.AwaitingConfirmation, api.Completed},
		api.OrderFailed:     {api.AwaitingConfirmation, api.Failed},
	}[kind]
}

// happens makes an event happen, and returns it.
func (c standIn) happens(ctx context.Context, t *triggering) (event json.RawMessage, err error) {
	kind, id := t.kind.Type, t.source()
	switch kind {
	case api.ProductUpdated, api.ProductRemoved:
		if id != "" {
			return nil, usagef("--set source.id: the stand-in chooses a product at random; to choose it, " +
				"tillwatch api PUT /control/products url=…")
		}
		change := map[string]any{"removed": kind == api.ProductRemoved}
		err := c.Control(ctx, http.MethodPut, "/control/products", change, &event)
		return event, err
	case api.VerificationChallenge:
		return nil, usagef("the stand-in challenges an endpoint that is registered: " +
			"tillwatch api POST /control/webhook-endpoints url=…")
	case api.ShipmentCreated, api.ShipmentUpdated:
		if id == "" || strings.HasPrefix(id, "ci_") != (kind == api.ShipmentCreated) {
			return nil, usagef("%s needs --set source.id=…: a completed intent for %s, a parcel for %s",
				kind, api.ShipmentCreated, api.ShipmentUpdated)
		}
		var parcel struct{ ID, CheckoutIntentID string }
		err := c.Control(ctx, http.MethodPost, "/control/shipments/"+url.PathEscape(id), nil, &parcel)
		if err != nil {
			return nil, err
		}
		return c.newest(ctx, kind, parcel.CheckoutIntentID, parcel.ID)
	}
	if id, err = c.subject(ctx, t, id); err != nil {
		return nil, err
	}
	move := map[string]any{"to": stepOf(kind).to, "failure": t.failure}
	if err := c.Control(ctx, http.MethodPost, intentPath(id), move, nil); err != nil {
		return nil, err
	}
	return c.newest(ctx, kind, id, id)
}

func intentPath(id string) string { return "/control/intents/" + url.PathEscape(id) }

// subject is the intent that it happens to: the given one, if it is where it can fail so, or a new one.
func (c standIn) subject(ctx context.Context, t *triggering, id string) (string, error) {
	step := stepOf(t.kind.Type)
	var file struct {
		Intent struct {
			ID    string
			State api.IntentState
		}
	}
	if id == "" {
		order := map[string]any{"referenceId": t.reference, "state": step.start}
		err := c.Control(ctx, http.MethodPost, "/control/intents", order, &file.Intent)
		return file.Intent.ID, err
	}
	if err := c.Control(ctx, http.MethodGet, intentPath(id), nil, &file); err != nil {
		return "", err
	}
	is, early := file.Intent.State, api.RetrievingOffer
	if step.to == api.Failed && !is.Terminal() && (is == early) != (step.start == early) {
		return "", fmt.Errorf("%s does not happen to %s: it is %s", t.kind.Type, api.ScrubID(id), is)
	}
	return id, nil
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
