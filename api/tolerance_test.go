package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The contract promises few fields, so no field but those may matter to a
// decode: each one of every fixture in turn is absent, null and of every other
// type, on every level.
func TestNoOptionalFieldCanSpoilADecode(t *testing.T) {
	decoders := map[string]struct {
		decode   func([]byte) error
		required []string
	}{
		"01-checkout-intents.json":    {func(b []byte) error { _, err := DecodeIntent(b); return err }, []string{"id"}},
		"04-shipments.json":           {func(b []byte) error { _, err := DecodeShipment(b); return err }, []string{"id"}},
		"05-products.json":            {func(b []byte) error { _, err := DecodeProduct(b); return err }, nil}, // an id or a url
		"06-events.json":              {func(b []byte) error { _, err := DecodeEvent(b); return err }, []string{"id", "type", "source", "source.id", "source.type"}},
		"08-pages.json":               {func(b []byte) error { _, err := decodePage(b); return err }, []string{"data"}},
		"03-offers-and-payments.json": {func(b []byte) error { _, err := DecodeIntent(asIntent(b)); return err }, nil},
	}
	for file, test := range decoders {
		t.Run(file, func(t *testing.T) {
			spoilt := 0
			for _, f := range fixtures(t, file) {
				var body any
				if err := json.Unmarshal(f.sent(), &body); err != nil {
					t.Fatal(err)
				}
				deepest := 9
				if file == "08-pages.json" {
					deepest = 2 // the items are the business of their own decoders
				}
				eachSpoilt(body, "", deepest, func(path, with string) {
					spoilt++
					encoded := []byte(jsonOf(t, body))
					if err := test.decode(encoded); err != nil && !slices.Contains(test.required, path) {
						t.Errorf("%s: %s as %s: %v", f.Name, path, with, err)
					}
				})
			}
			if spoilt < 50 {
				t.Errorf("only %d bodies were tried", spoilt)
			}
		})
	}
}

// asIntent puts an offer or a payment method where an intent has them.
func asIntent(body []byte) []byte {
	return fmt.Appendf(nil, `{"id":"ci_1","offer":%s,"paymentMethod":%s}`, body, body)
}

// eachSpoilt changes the fields below value one at a time, calls visit while each
// is changed, and puts it back. It goes so many levels down.
func eachSpoilt(value any, path string, levels int, visit func(path, with string)) {
	if levels == 0 {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			was, within := value[name], name
			if path != "" {
				within = path + "." + name
			}
			eachSpoilt(was, within, levels-1, visit)
			for with, other := range map[string]any{
				"null": nil, "true": true, "a string": "x", "an empty string": "", "a fraction": -1.5, "a huge number": 1e300,
				"an array": []any{1, "x", nil, map[string]any{}}, "an object": map[string]any{"id": []any{}, "x": 1},
			} {
				value[name] = other
				visit(within, with)
			}
			delete(value, name)
			visit(within, "absent")
			value[name] = was
		}
	case []any:
		for _, item := range value {
			eachSpoilt(item, path+"[]", levels-1, visit)
		}
	}
}

// What public clients have met that the contract does not show, point by point.
func TestWhatWasObservedIsTolerated(t *testing.T) {
	ctx := t.Context()
	reading := func(body string) (Intent, error) {
		return clientOf(t, answering(200, body)).Intent(ctx, "ci_1")
	}
	for name, tolerated := range map[string]func(t *testing.T) error{
		"a state that is not known": func(t *testing.T) error {
			in, err := reading(`{"id":"ci_1","state":"requires_action","nextAction":{"type":"x402"}}`)
			same(t, "state", in.State, "requires_action")
			same(t, "terminal", in.State.Terminal() || in.State.Known(), false)
			return err
		},
		"types of events and sources that are not known": func(t *testing.T) error {
			e, err := clientOf(t, answering(200, `{"id":"e","object":"event","type":"order.shipped","source":{"id":"o","type":"order"},"new":1}`)).Event(ctx, "e")
			same(t, "type", e.Type, "order.shipped")
			same(t, "source", e.Source.Type, "order")
			return err
		},
		"any body beside any status": func(t *testing.T) error {
			for _, status := range []int{300, 400, 402, 418, 451, 501, 502, 599} {
				for _, body := range []string{`{"message":"m"}`, `"m"`, `<html><title>m</title>`, ``, `[]`, `{`, "\x00"} {
					_, err := clientOf(t, answering(status, body), func(c *Config) { c.Retries = -1 }).Intent(ctx, "ci_1")
					if answer := (*Error)(nil); !errors.As(err, &answer) || answer.Status != status {
						t.Errorf("%d with %q: %v", status, body, err)
					}
				}
			}
			return nil
		},
		"404 and 409 at a confirm alike": func(t *testing.T) error {
			for status, want := range map[int]error{404: ErrNotFound, 409: ErrConflict} {
				_, err := clientOf(t, answering(status, `{"name":"n","message":"m","state":"placing_order"}`)).ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
				if !errors.Is(err, want) || IsUnknownOutcome(err) {
					t.Errorf("%d: %v", status, err)
				}
			}
			return nil
		},
		"429 with a message and nothing else": func(t *testing.T) error {
			_, err := clientOf(t, answering(429, `{"message":"Too many requests"}`)).ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
			same(t, "per second", errors.Is(err, ErrPerSecond), true)
			return nil
		},
		"null where something may be absent": func(t *testing.T) error {
			in, err := reading(`{"id":"ci_1","orderId":null,"offer":{"cost":{"tax":null,"shipping":null},"shipping":{"availableOptions":[{"id":"a","deliveryEstimate":null}]}}}`)
			if len(in.OrderIDs) != 0 || in.Offer.Cost.Tax != nil || !in.Offer.ShippingOptions[0].EarliestDelivery.IsZero() {
				t.Errorf("read %+v", in.Offer)
			}
			return err
		},
		"numbers as fractions, texts and whole numbers": func(t *testing.T) error {
			in, err := reading(`{"id":"ci_1","quantity":"2","variantSelections":[{"label":"Pack","value":6}],"offer":{"cost":{"total":{"currencyCode":"usd","amountSubunits":1500.0}}}}`)
			total, _ := in.Total()
			same(t, "total", total.String(), "15.00 USD")
			same(t, "quantity", in.Quantity, 2)
			same(t, "value", in.Variants[0].Value, "6")
			return err
		},
		"times with and without milliseconds and offset": func(t *testing.T) error {
			for _, at := range []string{"2026-04-21T03:27:50.000Z", "2026-04-21T03:27:50Z", "2026-04-21T05:27:50+02:00", "2026-04-21T03:27:50"} {
				in, err := reading(`{"id":"ci_1","createdAt":"` + at + `"}`)
				if err != nil || in.CreatedAt.Unix() != 1776742070 {
					t.Errorf("%s: %v, %v", at, in.CreatedAt, err)
				}
			}
			return nil
		},
		"a byte order mark before an answer": func(t *testing.T) error {
			const mark = "\ufeff"
			if _, err := clientOf(t, answering(200, mark+`{"id":"ci_1"}`)).Intent(ctx, "ci_1"); err != nil {
				t.Errorf("an intent: %v", err)
			}
			if err := drain(clientOf(t, answering(200, mark+`{"data":[{"id":"1"}]}`)).Shipments(ctx, ShipmentQuery{})); err != nil {
				t.Errorf("a list: %v", err)
			}
			refusal := new(Error)
			_, err := clientOf(t, answering(422, mark+`{"name":"N","message":"no such thing"}`)).Intent(ctx, "ci_1")
			if !errors.As(err, &refusal) || refusal.Name != "N" || refusal.Message != "no such thing" {
				t.Errorf("a refusal: %v", err)
			}
			body := mark + `{"id":"e","type":"t","source":{"id":"s","type":"x"}}`
			event, err := DecodeEvent([]byte(body))
			same(t, "the exact body", string(event.Raw), body)
			same(t, "the masked body", string(Masked(event.Raw)), body[len(mark):])
			return err
		},
		"a failure reason that is a text": func(t *testing.T) error {
			in, err := reading(`{"id":"ci_1","state":"failed","failureReason":"new_code"}`)
			same(t, "code", in.Failure.Code, "new_code")
			return err
		},
		"event ids of any form": func(t *testing.T) error {
			for _, id := range []ID{"evt_a.example:b/c_updated", "evt_ä ?#%2F", ID(strings.Repeat("x", 1500))} {
				client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
					last := r.URL.EscapedPath()[strings.LastIndex(r.URL.EscapedPath(), "/")+1:]
					asked, err := url.PathUnescape(last)
					if err != nil {
						t.Error(err)
					}
					io.WriteString(w, `{"id":`+jsonOf(t, asked)+`,"type":"t","source":{"id":"s","type":"x"}}`)
				})
				if e, err := client.Event(ctx, id); err != nil || e.ID != id {
					t.Errorf("%q: %v, %v", id, e, err)
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tolerated(t); err != nil {
				t.Error(err)
			}
		})
	}
}
