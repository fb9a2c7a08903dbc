package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const testKey = "shop/staging-0123456789abcdef"

// inMemory hands requests to a handler without a network, so that it also works
// where time is simulated.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	m.handler.ServeHTTP(recorder, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// clientOf makes a client whose requests reach handler.
func clientOf(t testing.TB, handler http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: "https://checkout.example/shop", Key: NewSecret(testKey), Transport: inMemory{handler}}
	for _, f := range change {
		f(&cfg)
	}
	client, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestEachCallIsSentAsTheContractSays(t *testing.T) {
	const intent, shipment, product = `{"id":"ci_1"}`, `{"id":"shp_1"}`, `{"id":"p"}`
	const event = `{"id":"evt_a.example:b/c","type":"t","source":{"id":"s","type":"x"}}`
	tests := []struct {
		name, answer, method, uri, body string
		call                            func(context.Context, *Client) error
	}{
		{"read an event", event, "GET", "/shop/api/v1/events/evt_a.example:b%2Fc", "",
			func(ctx context.Context, c *Client) error { _, err := c.Event(ctx, "evt_a.example:b/c"); return err }},
		{"read an intent", intent, "GET", "/shop/api/v1/checkout-intents/ci_1", "",
			func(ctx context.Context, c *Client) error { _, err := c.Intent(ctx, "ci_1"); return err }},
		{"an id that would leave the path", `{"id":"../..?x=%25 #"}`, "GET", "/shop/api/v1/checkout-intents/..%2F..%3Fx=%2525%20%23", "",
			func(ctx context.Context, c *Client) error { _, err := c.Intent(ctx, "../..?x=%25 #"); return err }},
		{"read a shipment", shipment, "GET", "/shop/api/v1/shipments/shp_1", "",
			func(ctx context.Context, c *Client) error { _, err := c.Shipment(ctx, "shp_1"); return err }},
		{"look a product up", product, "GET", "/shop/api/v1/products/lookup?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z", "",
			func(ctx context.Context, c *Client) error {
				_, err := c.LookupProduct(ctx, "https://a.example/x?y=1&z")
				return err
			}},
		{"confirm with nothing", intent, "POST", "/shop/api/v1/checkout-intents/ci_1/confirm", `{}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
				return err
			}},
		{"confirm with a token", intent, "POST", "/shop/api/v1/checkout-intents/ci_1/confirm", `{"paymentMethod":{"type":"vault_token","vaultToken":"tok"}}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.ConfirmIntent(ctx, "ci_1", ConfirmIntent{Payment: &PaymentMethod{Type: VaultToken, Token: NewSecret("tok")}})
				return err
			}},
		{"confirm with a body of one's own", intent, "POST", "/shop/api/v1/checkout-intents/ci_1/confirm", `{"x": 1}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.ConfirmIntent(ctx, "ci_1", ConfirmIntent{Raw: json.RawMessage(`{"x": 1}`)})
				return err
			}},
		{"list shipments", `[]`, "GET", "/shop/api/v1/shipments?ids=a&ids=b&limit=3", "",
			func(ctx context.Context, c *Client) error {
				return drain(c.Shipments(ctx, ShipmentQuery{IDs: []ID{"a", "b"}, Limit: 3}))
			}},
		{"list the shipments of an intent", `{"data":[]}`, "GET", "/shop/api/v1/checkout-intents/ci_1/shipments", "",
			func(ctx context.Context, c *Client) error { return drain(c.IntentShipments(ctx, "ci_1")) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			requests := 0
			client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				same(t, "method", r.Method, test.method)
				same(t, "URI", r.URL.RequestURI(), test.uri)
				same(t, "Authorization", r.Header.Get("Authorization"), "Bearer "+testKey)
				same(t, "User-Agent", r.Header.Get("User-Agent"), "tillwatch/test")
				body, _ := io.ReadAll(r.Body)
				same(t, "body", string(body), test.body)
				same(t, "has an idempotency key", len(idempotencyKey(r.Header)) == 36, test.method == "POST")
				io.WriteString(w, test.answer)
			}, func(c *Config) { c.UserAgent = "tillwatch/test" })
			if err := test.call(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			same(t, "requests", requests, 1)
		})
	}
}

// idempotencyKey finds the key however its name is spelt: in memory nothing has
// made the name canonical.
func idempotencyKey(header http.Header) string {
	for name, values := range header {
		if strings.EqualFold(name, "Idempotency-Key") && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}

func drain[T any](list func(func(T, error) bool)) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestConfirmsHaveTheShapeOfTheFixtures(t *testing.T) {
	for _, f := range fixtures(t, "09-requests.json") {
		if f.Schema != "CheckoutIntentConfirmParams" {
			continue // the body is of its sender's making
		}
		t.Run(f.Name, func(t *testing.T) {
			decoded, err := DecodeIntent(append([]byte(`{"id":"ci_1",`), compact(t, f.Body)[1:]...))
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := (&ConfirmIntent{Payment: decoded.Payment}).encode()
			if err != nil || !bytes.Equal(encoded, compact(t, f.Body)) {
				t.Errorf("got  %s, %v\nwant %s", encoded, err, f.Body)
			}
		})
	}
}

func TestUnsendableRequestsNeverLeave(t *testing.T) {
	client := clientOf(t, func(http.ResponseWriter, *http.Request) { t.Error("a request left") })
	calls := map[string]func() error{
		"an empty id":        func() error { _, err := client.Intent(t.Context(), ""); return err },
		"an id of dots":      func() error { _, err := client.Intent(t.Context(), ".."); return err },
		"confirm of no id":   func() error { _, err := client.ConfirmIntent(t.Context(), "", ConfirmIntent{}); return err },
		"shipments of no id": func() error { return drain(client.IntentShipments(t.Context(), "")) },
		"payment of no type": func() error {
			_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{Payment: &PaymentMethod{}})
			return err
		},
		"token by drawdown": func() error {
			_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{Payment: &PaymentMethod{Drawdown, NewSecret("tok_1")}})
			return err
		},
		"a raw body not JSON": func() error {
			_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{Raw: []byte("{tok_1")})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			err := call()
			if err == nil || IsUnknownOutcome(err) || strings.Contains(err.Error(), "tok_1") {
				t.Errorf("got %v (unknown outcome %t)", err, IsUnknownOutcome(err))
			}
		})
	}
}

func TestAConfirmHasTheKeyOfItsIntentAndACreationOneOfItsOwn(t *testing.T) {
	var seen []string
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, idempotencyKey(r.Header))
		id := strings.Trim(strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/confirm"), "/shop/api/v1/checkout-intents"), "/")
		io.WriteString(w, `{"id":"`+cmp.Or(id, "ci_9")+`"}`)
	})
	for _, id := range []ID{"ci_1", "ci_1", "ci_2"} {
		if _, err := client.ConfirmIntent(t.Context(), id, ConfirmIntent{}); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "the same intent has the same key", seen[0], seen[1])
	same(t, "another intent has the same key", seen[0] == seen[2], false)
	for range 2 {
		create := Request{Method: "POST", Path: "/api/v1/checkout-intents", Body: []byte(`{"quantity":1}`)}
		if _, err := client.Send(t.Context(), create); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "two creations have the same key", seen[3] == seen[4], false)
}

func TestAKeyIsReplacedOnlyByOneOfTheSameEnvironment(t *testing.T) {
	const rotated = "shop/staging-fedcba9876543210"
	cases := []struct {
		name, base, key, other string
		want                   string // of the error; "" for none
	}{
		{"a rotated key", "https://checkout.example", testKey, rotated, ""},
		{"the same key", "https://checkout.example", testKey, testKey, ""},
		{"a production key for a staging key", "https://checkout.example", testKey, "shop/production-0123456789abcdef", "one of production, and this run looks at staging"},
		{"a key without a prefix for a staging key", "https://checkout.example", testKey, "0123456789abcdef", "one of checkout.example, and this run looks at staging"},
		{"a production key for the simulator's", "http://127.0.0.1:7420", "local-key", "shop/production-0123456789abcdef", "production key"},
		{"no key", "https://checkout.example", testKey, "", "missing"},
		{"a key in two lines", "https://checkout.example", testKey, "a\nb", "line break"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var sent string
			client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header.Get("Authorization")
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, `{"message":"who is `+strings.TrimPrefix(sent, "Bearer ")+`?"}`)
			}, func(cfg *Config) { cfg.BaseURL, cfg.Key = c.base, NewSecret(c.key) })
			err := client.UseKey(NewSecret(c.other))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			carries := c.other
			if c.want != "" {
				carries = c.key
			}
			_, err = client.Intent(t.Context(), "ci_1")
			same(t, "key", sent, "Bearer "+carries)
			same(t, "uses it", client.Uses(NewSecret(carries)), true)
			if err == nil || strings.Contains(err.Error(), carries) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
