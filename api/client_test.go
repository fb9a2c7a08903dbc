package api

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
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
		{"create", intent, "POST", "/shop/api/v1/checkout-intents", `{"buyer":{"firstName":"A"},"productUrl":"https://a.example","quantity":1}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.CreateIntent(ctx, CreateIntent{ProductURL: "https://a.example", Quantity: 1, Buyer: Buyer{FirstName: "A"}})
				return err
			}},
		{"purchase", intent, "POST", "/shop/api/v1/checkout-intents/purchase", `{"buyer":{},"productUrl":"u","quantity":2,"paymentMethod":{"type":"drawdown"}}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.Purchase(ctx, CreateIntent{ProductURL: "u", Quantity: 2, Payment: &PaymentMethod{Type: Drawdown}})
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
		{"list shipments", `[]`, "GET", "/shop/api/v1/shipments?after=c&before=d&ids=a&ids=b&limit=3&status=shipped&status=delayed", "",
			func(ctx context.Context, c *Client) error {
				return drain(c.Shipments(ctx, ShipmentQuery{After: "c", Before: "d", IDs: []ID{"a", "b"}, Limit: 3, Statuses: []ShipmentStatus{Shipped, Delayed}}))
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
				keyed := len(r.Header["idempotency-key"]) == 1 && len(r.Header["idempotency-key"][0]) == 36
				same(t, "has an idempotency key", keyed, test.method == "POST")
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

func TestRequestBodiesHaveTheShapeOfTheFixtures(t *testing.T) {
	for _, f := range fixtures(t, "09-requests.json") {
		if strings.Contains(f.Name, "trigger") {
			continue // not a call of this client
		}
		t.Run(f.Name, func(t *testing.T) {
			var want map[string]any
			if err := json.Unmarshal(f.Body, &want); err != nil {
				t.Fatal(err)
			}
			delete(want, "discoverPromoCodes") // false is left out
			if selections, ok := want["variantSelections"].([]any); ok {
				selections[1].(map[string]any)["value"] = "6" // numbers go out as their text
			}
			decoded, err := DecodeIntent(append([]byte(`{"id":"ci_1",`), compact(t, f.Body)[1:]...))
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := encodeAgain(f.Schema, &decoded)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(encoded, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func encodeAgain(schema string, intent *Intent) ([]byte, error) {
	if schema == "CheckoutIntentConfirmParams" {
		return (&ConfirmIntent{Payment: intent.Payment}).encode()
	}
	create := CreateIntent{
		ProductURL: string(intent.ProductURL), Quantity: intent.Quantity, Buyer: *intent.Buyer, ReferenceID: string(intent.ReferenceID),
		VariantSelections: intent.Variants, Constraints: intent.Constraints, Payment: intent.Payment,
	}
	for _, code := range intent.PromoCodes {
		create.PromoCodes = append(create.PromoCodes, string(code))
	}
	return create.encode()
}

func TestUnsendableRequestsNeverLeave(t *testing.T) {
	client := clientOf(t, func(http.ResponseWriter, *http.Request) { t.Error("a request left") })
	calls := map[string]func() error{
		"an empty id":        func() error { _, err := client.Intent(t.Context(), ""); return err },
		"an id of dots":      func() error { _, err := client.Intent(t.Context(), ".."); return err },
		"confirm of no id":   func() error { _, err := client.ConfirmIntent(t.Context(), "", ConfirmIntent{}); return err },
		"shipments of no id": func() error { return drain(client.IntentShipments(t.Context(), "")) },
		"no product URL":     func() error { _, err := client.CreateIntent(t.Context(), CreateIntent{}); return err },
		"payment of no type": func() error {
			_, err := client.Purchase(t.Context(), CreateIntent{ProductURL: "u", Payment: &PaymentMethod{}})
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

func TestEachPOSTHasAnIdempotencyKeyOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		seen[idempotencyKey(r.Header)] = true
		io.WriteString(w, `{"id":"ci_1"}`)
	})
	for range 3 {
		if _, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{}); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "keys", len(seen), 3)
}

func TestReadsAreRetriedWhenTheFailurePasses(t *testing.T) {
	tests := []struct {
		name          string
		status        int
		header, body  string
		sent          int
		least, most   time.Duration // until the last attempt
		is            error
		isUnknownKind bool
	}{
		{"internal error", 500, "", `{"message":"x"}`, 3, 450 * time.Millisecond, 1350 * time.Millisecond, nil, true},
		{"gateway", 502, "", `<html><title>Bad Gateway</title>`, 3, 450 * time.Millisecond, 1350 * time.Millisecond, nil, true},
		{"not implemented", 501, "", ``, 1, 0, 0, nil, true},
		{"per second", 429, "", `{"message":"Too many requests per second"}`, 3, 3 * time.Second, 6 * time.Second, ErrPerSecond, false},
		{"per second with a time", 429, "3", `{"message":"Too many requests per second"}`, 3, 6 * time.Second, 6500 * time.Millisecond, ErrPerSecond, false},
		{"a time beyond patience", 503, "3600", ``, 1, 0, 0, nil, true},
		{"daily", 429, "1", `{"message":"You have reached the limit of 50 checkout intents per day"}`, 1, 0, 0, ErrDailyLimit, false},
		{"agents", 429, "1", `{"message":"You have reached the limit of 10 running agents"}`, 1, 0, 0, ErrAgentsLimit, false},
		{"not found", 404, "", `{"name":"NotFoundError","message":"no"}`, 1, 0, 0, ErrNotFound, false},
		{"unauthorized", 401, "", `{}`, 1, 0, 0, ErrUnauthorized, false},
		{"conflict", 409, "", `{}`, 1, 0, 0, ErrConflict, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				started := time.Now()
				var last time.Duration
				client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					sent++
					last = time.Since(started)
					if test.header != "" {
						w.Header().Set("Retry-After", test.header)
					}
					w.WriteHeader(test.status)
					io.WriteString(w, test.body)
				})
				_, err := client.Intent(t.Context(), "ci_1")
				if err == nil || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("got %v, want %v", err, test.is)
				}
				same(t, "requests", sent, test.sent)
				same(t, "unknown outcome", IsUnknownOutcome(err), test.isUnknownKind)
				if last < test.least || last > test.most {
					t.Errorf("the last attempt went out after %s, want %s to %s", last, test.least, test.most)
				}
			})
		})
	}
}

func TestReadsSucceedOnceTheFailureHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts []Exchange
		client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "r-1")
			if len(attempts) == 0 {
				w.WriteHeader(500)
				return
			}
			io.WriteString(w, `{"id":"ci_1","state":"failed"}`)
		}, func(c *Config) { c.Observe = func(e Exchange) { attempts = append(attempts, e) } })
		ctx := quota.WithPriority(t.Context(), quota.Timer)
		intent, err := client.Intent(ctx, "ci_1")
		if err != nil || intent.State != Failed {
			t.Fatalf("got %v, %v", intent, err)
		}
		same(t, "attempts", len(attempts), 2)
		for i, e := range attempts {
			same(t, "number", e.Attempt, i+1)
			same(t, "method", e.Method, "GET")
			same(t, "path", e.Path, "/api/v1/checkout-intents/ci_1")
			same(t, "class", e.Class, quota.Reads)
			same(t, "priority", e.Priority, quota.Timer)
			same(t, "request id", e.RequestID, "r-1")
			same(t, "an error", e.Err != nil, i == 0)
			same(t, "status", e.Status, []int{500, 200}[i])
		}
	})
}

func TestPOSTsAreSentOnceWhateverHappens(t *testing.T) {
	for _, status := range []int{500, 502, 503, 429, 408} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					sent++
					w.WriteHeader(status)
					io.WriteString(w, `{"message":"Too many requests per second"}`)
				})
				_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
				same(t, "requests", sent, 1)
				same(t, "unknown outcome", IsUnknownOutcome(err), status != 429)
				same(t, "per second", errors.Is(err, ErrPerSecond), status == 429)
			})
		})
	}
}

func TestQueryValuesAreNotObserved(t *testing.T) {
	var seen []Exchange
	client := clientOf(t, answering(200, `[]`), func(c *Config) { c.Observe = func(e Exchange) { seen = append(seen, e) } })
	if err := drain(client.Shipments(t.Context(), ShipmentQuery{After: "private", Limit: 5})); err != nil {
		t.Fatal(err)
	}
	same(t, "path", seen[0].Path, "/api/v1/shipments?after=…&limit=…")
}

// tollgate is a pacer that makes every request wait.
type tollgate struct {
	wait    time.Duration
	err     error
	classes []quota.Class
}

func (g *tollgate) Acquire(ctx context.Context, class quota.Class) (quota.Permit, error) {
	g.classes = append(g.classes, class)
	if g.err != nil {
		return quota.Permit{}, g.err
	}
	return quota.Permit{}, sleep(ctx, g.wait)
}

func TestWaitingForQuotaIsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &tollgate{wait: 4 * time.Second}
		var seen []Exchange
		client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			if err := sleep(r.Context(), 2*time.Second); err != nil {
				t.Error(err)
			}
			io.WriteString(w, `{"id":"ci_1"}`)
		}, func(c *Config) {
			c.Pacer = gate
			c.Observe = func(e Exchange) { seen = append(seen, e) }
		})
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.LookupProduct(t.Context(), "https://a.example"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{}); err != nil {
			t.Fatal(err)
		}
		same(t, "classes", fmt.Sprint(gate.classes), "[reads lookup mutations]")
		same(t, "waited", seen[0].Waited, 4*time.Second)
		same(t, "latency", seen[0].Latency, 2*time.Second)
	})
}

func TestEveryAttemptIsBookedByThePacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		sent := 0
		client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			sent++
			w.Header().Add("RateLimit-Policy", `"default";q=10;w=1`)
			w.Header().Add("RateLimit", fmt.Sprintf(`"default";r=%d;t=1`, 10-sent))
			if sent == 1 {
				w.WriteHeader(500)
			}
			io.WriteString(w, `{"id":"ci_1"}`)
		}, func(c *Config) { c.Pacer = pacer })
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		buckets := pacer.Buckets(time.Now())
		if len(buckets) != 1 || buckets[0].Class != quota.Reads || buckets[0].Limit != 10 || buckets[0].Remaining != 8 {
			t.Errorf("the pacer knows %+v", buckets)
		}
		// A permit that was not given back would hold these up for ever.
		for range 40 {
			if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
				t.Fatal(err)
			}
			sent = 1
		}
	})
}

func TestCancellationIsReturnedAsSuch(t *testing.T) {
	t.Run("while waiting for quota", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			client := clientOf(t, answering(200, `{}`), func(c *Config) { c.Pacer = &tollgate{wait: time.Hour} })
			_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
			same(t, "deadline", errors.Is(err, context.DeadlineExceeded), true)
			same(t, "unknown outcome", IsUnknownOutcome(err), false)
		})
	})
	t.Run("before anything was sent", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		client := clientOf(t, func(http.ResponseWriter, *http.Request) { t.Error("a request left") })
		_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
		same(t, "canceled", errors.Is(err, context.Canceled), true)
		same(t, "unknown outcome", IsUnknownOutcome(err), false)
	})
	t.Run("while waiting for a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			sent := 0
			client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				sent++
				time.AfterFunc(time.Millisecond, cancel)
				w.WriteHeader(500)
			})
			_, err := client.Intent(ctx, "ci_1")
			same(t, "canceled", errors.Is(err, context.Canceled), true)
			same(t, "requests", sent, 1)
		})
	})
	t.Run("while the service works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			client := clientOf(t, func(_ http.ResponseWriter, r *http.Request) {
				cancel()
				<-r.Context().Done()
			})
			_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
			same(t, "canceled", errors.Is(err, context.Canceled), true)
			same(t, "unknown outcome", IsUnknownOutcome(err), true)
		})
	})
}

func TestTimeoutOfAConfirmIsAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		client := clientOf(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
		same(t, "waited", time.Since(started), defaultTimeout)
		same(t, "unknown outcome", IsUnknownOutcome(err), true)
		same(t, "says how long", strings.Contains(err.Error(), "nothing within 15s"), true)
	})
}

func TestSuccessesThatCannotBeReadAreUnknownOutcomes(t *testing.T) {
	tests := []struct{ name, body, says string }{
		{"HTML", "<html>", "invalid JSON"},
		{"nothing", "", "empty body"},
		{"no id", `{"state":"failed"}`, "id is missing"},
		{"too large", `{"id":"` + strings.Repeat("x", maxBody) + `"}`, "larger than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := clientOf(t, answering(200, test.body))
			_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
			if err == nil || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 300 {
				t.Errorf("got %v, want an error that says %q", err, test.says)
			}
			same(t, "unknown outcome", IsUnknownOutcome(err), true)
		})
	}
}

func TestAnAnswerAboutSomethingElseIsRefused(t *testing.T) {
	client := clientOf(t, answering(200, `{"id":"other","type":"t","source":{"id":"s","type":"x"}}`))
	calls := map[string]func() error{
		"intent":   func() error { _, err := client.Intent(t.Context(), "asked"); return err },
		"event":    func() error { _, err := client.Event(t.Context(), "asked"); return err },
		"shipment": func() error { _, err := client.Shipment(t.Context(), "asked"); return err },
		"confirm": func() error {
			_, err := client.ConfirmIntent(t.Context(), "asked", ConfirmIntent{})
			return err
		},
	}
	for name, call := range calls {
		err := call()
		if err == nil || !IsUnknownOutcome(err) || !strings.Contains(err.Error(), `about "other"`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		sent := 0
		client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			sent++
			http.Redirect(w, r, "https://elsewhere.example/steal", status)
		})
		_, err := client.Intent(t.Context(), "ci_1")
		same(t, "requests", sent, 1)
		if err == nil || strings.Contains(err.Error(), "steal") {
			t.Errorf("%d: got %v", status, err)
		}
	}
}

// The tests below need what net/http does on a real connection.

func overNetwork(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(testKey)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.http.CloseIdleConnections)
	return client
}

func TestAConfirmOnABrokenConnectionIsNotSentAgain(t *testing.T) {
	var confirms atomic.Int32
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"id":"ci_1"}`)
			return
		}
		same(t, "has an idempotency key", len(r.Header.Get("Idempotency-Key")), 36)
		confirms.Add(1)
		io.Copy(io.Discard, r.Body)
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connection.Close()
	})
	if _, err := client.Intent(t.Context(), "ci_1"); err != nil { // leaves a connection to reuse
		t.Fatal(err)
	}
	_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	same(t, "confirms", confirms.Load(), 1)
	same(t, "unknown outcome", IsUnknownOutcome(err), true)
	var transport *TransportError
	same(t, "a transport error", errors.As(err, &transport), true)
}

func TestAConfirmThatNeverLeftIsNoUnknownOutcome(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	client, err := New(Config{BaseURL: "http://" + address, Key: NewSecret(testKey), Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	if err == nil || IsUnknownOutcome(err) || !strings.Contains(err.Error(), "not sent") {
		t.Errorf("got %v (unknown outcome %t)", err, IsUnknownOutcome(err))
	}
	if strings.Contains(err.Error(), "http://") {
		t.Errorf("the error quotes the URL: %v", err)
	}
}

func TestAnAnswerThatBreaksOffIsAnUnknownOutcome(t *testing.T) {
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, `{"id":"ci_1",`)
	})
	_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	same(t, "unknown outcome", IsUnknownOutcome(err), true)
	same(t, "cut off", errors.Is(err, io.ErrUnexpectedEOF), true)
}

func TestCompressedAnswersAreReadAndConnectionsReused(t *testing.T) {
	peers := map[string]bool{}
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		same(t, "asks for gzip", r.Header.Get("Accept-Encoding"), "gzip")
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		io.WriteString(compressed, `{"id":"ci_1","state":"completed"}`)
	})
	for range 3 {
		intent, err := client.Intent(t.Context(), "ci_1")
		if err != nil || intent.State != Completed {
			t.Fatalf("got %v, %v", intent, err)
		}
	}
	same(t, "connections", len(peers), 1)
}

func TestACompressedBombIsRefused(t *testing.T) {
	client := overNetwork(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		block := make([]byte, 1<<20)
		for range maxBody>>20 + 1 {
			compressed.Write(block)
		}
	})
	_, err := client.Intent(t.Context(), "ci_1")
	same(t, "too large", errors.Is(err, errTooLarge), true)
}
