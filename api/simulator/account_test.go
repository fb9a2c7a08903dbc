package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

const (
	testKey    = "shop/staging-0123456789abcdef"
	testSecret = "a-signing-secret-of-some-length"
)

// account makes requests of a simulator.
type account struct {
	*testing.T
	sim      *Simulator
	receiver *receiver
}

// response is an answer with its body read.
type response struct {
	status int
	header http.Header
	body   []byte
}

// inBubble runs a test against a living simulator on a fake clock.
func inBubble(t *testing.T, change func(*Config), test func(a *account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		cfg := Config{
			Key: api.NewSecret(testKey), SigningSecret: api.NewSecret(testSecret), WebhookURL: "http://receiver.example/hooks",
			Transport: r, History: -1, Timings: Timings{Spread: -1}, Seed: 7,
		}
		if change != nil {
			change(&cfg)
		}
		sim, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sim.Run(ctx) }()
		synctest.Wait()
		test(&account{T: t, sim: sim, receiver: r})
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// later lets time pass and everything that is due happen.
func later(d time.Duration) {
	time.Sleep(d) // of the bubble's clock
	synctest.Wait()
}

// call makes a request in a fresh second.
func (a *account) call(method, path, body string) response {
	a.Helper()
	later(time.Second)
	return a.burst(method, path, body)
}

// burst makes a request at once.
func (a *account) burst(method, path, body string) response {
	a.Helper()
	return a.send(method, path, body, "Bearer "+testKey)
}

// want fails the test unless the answer has the status, and decodes its body.
func (a *account) want(status int, r response) map[string]any {
	a.Helper()
	if r.status != status {
		a.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	var body map[string]any
	if err := json.Unmarshal(r.body, &body); err != nil {
		a.Fatalf("status %d with a body that is no JSON object: %v: %q", r.status, err, r.body)
	}
	return body
}

// closed fails the test when the object lacks a required key or has one that is
// not allowed.
func closed(t testing.TB, what string, object any, required []string, optional ...string) {
	t.Helper()
	o, ok := object.(map[string]any)
	if !ok {
		t.Fatalf("%s is %T, want an object", what, object)
	}
	for _, key := range required {
		if _, ok := o[key]; !ok {
			t.Errorf("%s lacks %q", what, key)
		}
	}
	for key := range o {
		if !slices.Contains(required, key) && !slices.Contains(optional, key) {
			t.Errorf("%s has %q, which the contract does not allow", what, key)
		}
	}
}

const buyerJSON = `{"firstName":"Mara","lastName":"Okafor","email":"mara.okafor@example.com","phone":"212-555-0142",` +
	`"address1":"48 Juniper Ave","city":"Brooklyn","province":"NY","postalCode":"11215","country":"US"}`

// orderJSON is the body of a create with further fields.
func orderJSON(productURL string, more ...string) string {
	return fmt.Sprintf(`{"productUrl":%q,"quantity":1,"buyer":%s%s}`, productURL, buyerJSON, strings.Join(append([]string{""}, more...), ","))
}

const drawdown = `"paymentMethod":{"type":"drawdown"}`

const chiliCrisp = "https://spice-lab.example/products/chili-crisp"

func magicURL(name string) string { return "https://shop.example/magic/" + name }

// create makes an intent over HTTP and returns its id.
func (a *account) create(productURL string, more ...string) string {
	a.Helper()
	return a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents", orderJSON(productURL, more...)))["id"].(string)
}

// intent reads an intent.
func (a *account) intent(id string) map[string]any {
	a.Helper()
	return a.want(http.StatusOK, a.call("GET", "/api/v1/checkout-intents/"+id, ""))
}

func (a *account) confirm(id string) map[string]any {
	a.Helper()
	return a.want(http.StatusOK, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", "{"+drawdown+"}"))
}

// completed makes an intent and brings it to its order.
func (a *account) completed(productURL string) string {
	a.Helper()
	id := a.create(productURL, drawdown)
	later(10 * time.Second)
	a.confirm(id)
	later(15 * time.Second)
	if state := a.intent(id)["state"]; state != "completed" {
		a.Fatalf("the intent is %v, want completed", state)
	}
	return id
}

// list reads a page and returns its items.
func (a *account) list(path string) []map[string]any {
	a.Helper()
	var items []map[string]any
	for _, item := range a.want(http.StatusOK, a.call("GET", path, ""))["data"].([]any) {
		items = append(items, item.(map[string]any))
	}
	return items
}

// receiver is a client's webhook endpoint.
type receiver struct {
	mu       sync.Mutex
	attempts []attempt
	answer   func(a attempt) (status int, body string) // nil: as the contract wants
}

type attempt struct {
	header http.Header
	method string
	body   []byte
	event  map[string]any
	at     time.Time
}

func (a attempt) kind() string { return a.event["type"].(string) }

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	a := attempt{header: req.Header, method: req.Method, body: body, at: time.Now()}
	if err := json.Unmarshal(body, &a.event); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.attempts = append(r.attempts, a)
	answer := r.answer
	r.mu.Unlock()
	status, text := http.StatusOK, "{}"
	if a.kind() == string(api.VerificationChallenge) {
		text = fmt.Sprintf(`{"challenge":%q}`, a.event["source"].(map[string]any)["id"])
	}
	if answer != nil {
		if s, b := answer(a); s != 0 {
			status, text = s, b
		}
	}
	if status < 0 { // never answers
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(text)))}, nil
}

// answers makes the receiver answer as given from now on.
func (r *receiver) answers(answer func(a attempt) (status int, body string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// got lists the attempts, of some types only when any are given.
func (r *receiver) got(kinds ...api.EventType) []attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var some []attempt
	for _, a := range r.attempts {
		if len(kinds) == 0 || slices.Contains(kinds, api.EventType(a.kind())) {
			some = append(some, a)
		}
	}
	return some
}

// about lists the types of the events of one source, in the order of arrival.
func (r *receiver) about(source string) []string {
	var kinds []string
	for _, a := range r.got() {
		if a.event["source"].(map[string]any)["id"] == source {
			kinds = append(kinds, a.kind())
		}
	}
	return kinds
}

// exact lists the values of a field whose name has just this case.
func exact(h http.Header, name string) []string { return h[name] }
