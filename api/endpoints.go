package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
	"golang.org/x/text/unicode/norm"
)

const (
	intentsPath   = "/api/v1/checkout-intents"
	eventsPath    = "/api/v1/events"
	shipmentsPath = "/api/v1/shipments"
)

// Event reads an event (contract, Retrieve event; scope events:read).
func (c *Client) Event(ctx context.Context, id ID) (Event, error) {
	return read(ctx, c, eventsPath, id, decodeEvent, func(e Event) ID { return e.ID })
}

// Intent reads a checkout intent with its current state (contract, Endpoints).
// An intent that does not exist is [ErrMissing].
func (c *Client) Intent(ctx context.Context, id ID) (Intent, error) {
	return read(ctx, c, intentsPath, id, decodeIntent, intentID)
}

// Shipment reads one shipment (contract, Endpoints).
func (c *Client) Shipment(ctx context.Context, id ID) (Shipment, error) {
	return read(ctx, c, shipmentsPath, id, decodeShipment, func(s Shipment) ID { return s.ID })
}

// LookupProduct returns price, tax and shipping of the product at a URL. It charges
// a bucket of its own (contract, Limits).
func (c *Client) LookupProduct(ctx context.Context, productURL string) (Product, error) {
	return decoded(ctx, c, get(c.lookupPath, url.Values{"url": {productURL}}), decodeProduct)
}

// SameReference reports whether two references are the same but for their spelling. The contract does not show how a
// service keeps a reference: it may trim it, or compose its characters in another way.
func SameReference(a, b Text) bool {
	spelt := func(t Text) string { return norm.NFC.String(strings.TrimSpace(string(t))) }
	return a == b || spelt(a) != "" && spelt(a) == spelt(b)
}

// paymentOf is how a body pays, whose token errors must not repeat.
func paymentOf(payment *PaymentMethod, raw json.RawMessage) *PaymentMethod {
	if len(raw) > 0 {
		return decodePayment(gjson.GetBytes(raw, "paymentMethod"))
	}
	return payment
}

// ConfirmIntent submits an intent for purchase, which costs money (contract, States
// and transitions). It is sent once, never again by itself. After an error for which
// [IsUnknownOutcome] is true the order may or may not be placed: read the intent
// until its state shows which. Every confirm of an intent carries the same
// idempotency key, until reads have shown that one bought nothing: what
// [ConfirmIntent.After] names is not repeated, and a service that remembers
// failures would answer with that one's for ever.
func (c *Client) ConfirmIntent(ctx context.Context, id ID, body ConfirmIntent) (Intent, error) {
	path, err := itemPath(intentsPath, id)
	if err != nil {
		return Intent{}, err
	}
	encoded, err := body.encode()
	if err != nil {
		return Intent{}, fmt.Errorf("POST %s/confirm: not sent: %w", path, err)
	}
	request := post(path+"/confirm", encoded, paymentOf(body.Payment, body.Raw))
	request.once, request.standIn, request.departure = onceFor(path+"/confirm", body.After), body.StandIn, body.Departure
	request.hidden = append(request.hidden, body.Hidden)
	return decoded(ctx, c, request, expecting(id, decodeIntent, intentID))
}

// onceFor is the idempotency key of what is meant once after something else,
// whoever sends it: the same in every process and on every machine. The contract
// shows no such keys; a service that honours them takes the second of two as the
// first.
func onceFor(path, after string) string {
	if after != "" {
		path += " after " + after
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(path)).String()
}

// IntentShipments lists the shipments of an intent. As in all lists, pages are
// fetched as they are needed, an [*ItemError] is one item that cannot be read, and
// every other error is the end.
func (c *Client) IntentShipments(ctx context.Context, id ID) iter.Seq2[Shipment, error] {
	path, err := itemPath(intentsPath, id)
	if err != nil {
		return func(yield func(Shipment, error) bool) { yield(Shipment{}, err) }
	}
	return listed(ctx, c, get(path+"/shipments", nil), decodeShipment)
}

// Shipments lists shipments, page by page (contract, Endpoints). Many ids are asked
// for in several lists, each of which a URL can hold.
func (c *Client) Shipments(ctx context.Context, query ShipmentQuery) iter.Seq2[Shipment, error] {
	if len(query.IDs) <= maxQueryIDs {
		return listed(ctx, c, get(shipmentsPath, query.values()), decodeShipment)
	}
	return func(yield func(Shipment, error) bool) {
		for ids := range slices.Chunk(query.IDs, maxQueryIDs) {
			part := query
			part.IDs = ids
			for shipment, err := range listed(ctx, c, get(shipmentsPath, part.values()), decodeShipment) {
				if !yield(shipment, err) {
					return
				}
				if item := (*ItemError)(nil); err != nil && !errors.As(err, &item) {
					return
				}
			}
		}
	}
}

// maxQueryIDs is as many as one page can hold by what was observed.
const maxQueryIDs = 100

func (q ShipmentQuery) values() url.Values {
	values := url.Values{}
	for _, id := range q.IDs {
		values.Add("ids", string(id))
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}

// Intents lists intents, newest first where the service says nothing else. The
// contract shows no such list: a service without it yields one [ErrNotServed], and is
// not asked again.
func (c *Client) Intents(ctx context.Context) iter.Seq2[Intent, error] {
	return probed(ctx, c, &c.intentsRefused, intentsPath, decodeIntent)
}

// Events lists events, newest first where the service says nothing else. Like
// [Client.Intents], it may yield [ErrNotServed].
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] {
	return probed(ctx, c, &c.eventsRefused, eventsPath, decodeEvent)
}

// decoder makes a resource of a body and of the answer that it came in.
type decoder[T any] func(body []byte, of Response) (T, error)

func read[T any](ctx context.Context, c *Client, collection string, id ID, decode decoder[T], identity func(T) ID) (T, error) {
	path, err := itemPath(collection, id)
	if err != nil {
		var none T
		return none, err
	}
	return decoded(ctx, c, get(path, nil), expecting(id, decode, identity))
}

func intentID(i Intent) ID { return i.ID }

// expecting refuses an answer about something else than what was asked for:
// what a person confirms by must be what was named.
func expecting[T any](id ID, decode decoder[T], identity func(T) ID) decoder[T] {
	return func(body []byte, of Response) (T, error) {
		value, err := decode(body, of)
		if err == nil && identity(value) != id {
			var none T
			return none, fmt.Errorf("the answer is about %q", cut(string(identity(value)), 80))
		}
		return value, err
	}
}

func decoded[T any](ctx context.Context, c *Client, request call, decode decoder[T]) (T, error) {
	var value, none T
	err := c.do(ctx, request, func(body []byte, of Response) (err error) {
		value, err = decode(body, of)
		return err
	})
	if err != nil {
		return none, err
	}
	return value, nil
}

// IntentURL is the address that an intent is read from.
func (c *Client) IntentURL(id ID) (string, error) {
	path, err := itemPath(intentsPath, id)
	return c.base.String() + path, err
}

// itemPath escapes id into one segment of the path, whatever it holds.
func itemPath(collection string, id ID) (string, error) {
	if !Nameable(string(id)) {
		return "", fmt.Errorf("%s: %q is not an id", collection, string(id))
	}
	return collection + "/" + url.PathEscape(string(id)), nil
}
