package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// clientDriver makes each request through the client. It checks that the client
// sends exactly what the row asks for, and that what the client makes of the
// answer is all that the answer says.
type clientDriver struct{}

// spy hands requests to a handler and keeps the first, with its answer.
type spy struct {
	handler http.Handler
	method  string
	target  *url.URL
	body    []byte
	header  http.Header
	answer  *response
}

func (s *spy) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(string(body)))
	again.Header = onTheWire(r.Header)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, again)
	if s.answer == nil {
		s.method, s.target, s.body, s.header = r.Method, r.URL, body, r.Header
		s.answer = &response{w.Code, w.Result().Header, w.Body.Bytes()}
	}
	return w.Result(), nil
}

// made is what the client made of an answer.
type made struct {
	values []any // an api.Intent, api.Event …: one, or the items of a page
	list   bool
	err    error
}

func (clientDriver) send(a *account, method, path, body, authorization string) response {
	a.Helper()
	key, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		a.Fatalf("a client sends no such Authorization: %q", authorization)
	}
	s := &spy{handler: a.sim.Handler()}
	client, err := api.New(api.Config{
		BaseURL: "https://api.example", Key: api.NewSecret(key), LookupPath: a.sim.cfg.LookupPath, Transport: s, Retries: -1,
	})
	if err != nil {
		a.Fatal(err)
	}
	got := call(a, client, s, method, path, body)
	if s.answer == nil {
		a.Fatalf("%s %s: the client sent nothing: %v", method, path, got.err)
	}
	checkSent(a, s, method, path, body)
	checkMade(a, s, got)
	return *s.answer
}

// call makes the client's call for a request.
func call(a *account, c *api.Client, s *spy, method, path, body string) made {
	a.Helper()
	u, err := url.Parse(path)
	if err != nil {
		a.Fatal(err)
	}
	if u.Path == a.sim.cfg.LookupPath {
		return one(c.LookupProduct(a.Context(), u.Query().Get("url")))
	}
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/api/v1/"), "/")
	id := api.ID("")
	if len(parts) > 1 {
		text, err := url.PathUnescape(parts[1])
		if err != nil {
			a.Fatal(err)
		}
		id, parts[1] = api.ID(text), "{id}"
	}
	switch method + " " + strings.Join(parts, "/") {
	case "GET events/{id}":
		return one(c.Event(a.Context(), id))
	case "GET events":
		return some(a, s, c.Events(a.Context()))
	case "GET checkout-intents":
		return some(a, s, c.Intents(a.Context()))
	case "GET checkout-intents/{id}":
		return one(c.Intent(a.Context(), id))
	case "GET checkout-intents/{id}/shipments":
		return some(a, s, c.IntentShipments(a.Context(), id))
	case "GET shipments":
		return some(a, s, c.Shipments(a.Context(), shipmentQuery(u.Query())))
	case "GET shipments/{id}":
		return one(c.Shipment(a.Context(), id))
	case "POST checkout-intents":
		return one(c.CreateIntent(a.Context(), orderOf(a, body)))
	case "POST checkout-intents/{id}":
		if id == "purchase" {
			return one(c.Purchase(a.Context(), orderOf(a, body)))
		}
	case "POST checkout-intents/{id}/confirm":
		return one(c.ConfirmIntent(a.Context(), id, api.ConfirmIntent{Payment: intentOf(a, body).Payment}))
	}
	a.Fatalf("the client has no call for %s %s", method, path)
	return made{}
}

func one[T any](value T, err error) made { return made{values: []any{value}, err: err} }

// some takes the items of the first page and no more.
func some[T any](a *account, s *spy, list iter.Seq2[T, error]) made {
	a.Helper()
	m := made{list: true}
	for value, err := range list {
		if err != nil {
			m.err = err
			return m
		}
		m.values = append(m.values, value)
		var page struct{ Data []json.RawMessage }
		if err := json.Unmarshal(s.answer.body, &page); err != nil {
			a.Fatal(err)
		}
		if len(m.values) == len(page.Data) {
			return m
		}
	}
	return m
}

func shipmentQuery(values url.Values) api.ShipmentQuery {
	q := api.ShipmentQuery{}
	for _, id := range values["ids"] {
		q.IDs = append(q.IDs, api.ID(id))
	}
	q.Limit, _ = strconv.Atoi(values.Get("limit"))
	return q
}

// intentOf reads the body of a request, which has the fields of an intent.
func intentOf(a *account, body string) api.Intent {
	a.Helper()
	fields := map[string]json.RawMessage{}
	if body != "" {
		if err := json.Unmarshal([]byte(body), &fields); err != nil {
			a.Fatal(err)
		}
	}
	fields["id"] = json.RawMessage(`"ci_of_the_request"`)
	in, err := api.DecodeIntent(encode(fields))
	if err != nil {
		a.Fatal(err)
	}
	return in
}

func orderOf(a *account, body string) api.CreateIntent {
	a.Helper()
	in := intentOf(a, body)
	order := api.CreateIntent{
		ProductURL: string(in.ProductURL), Quantity: in.Quantity, ReferenceID: string(in.ReferenceID),
		VariantSelections: in.Variants, Constraints: in.Constraints, Payment: in.Payment,
		DiscoverPromoCodes: strings.Contains(body, `"discoverPromoCodes":true`),
	}
	if in.Buyer != nil {
		order.Buyer = *in.Buyer
	}
	for _, code := range in.PromoCodes {
		order.PromoCodes = append(order.PromoCodes, string(code))
	}
	return order
}

// checkSent holds what the client sent against what the row asked for.
func checkSent(a *account, s *spy, method, path, body string) {
	a.Helper()
	want, err := url.Parse(path)
	if err != nil {
		a.Fatal(err)
	}
	if s.method != method || s.target.EscapedPath() != want.EscapedPath() || !reflect.DeepEqual(s.target.Query(), want.Query()) {
		a.Errorf("the client sent %s %s for %s %s", s.method, s.target, method, path)
	}
	if method == http.MethodPost && !reflect.DeepEqual(requestJSON(a, s.body), requestJSON(a, []byte(body))) {
		a.Errorf("the client sent the body %s for %s", s.body, body)
	}
	keyed := len(exact(s.header, "idempotency-key")) == 1
	if keyed != (method == http.MethodPost) || s.header.Get("User-Agent") == "" {
		a.Errorf("the client sent the headers %v", s.header)
	}
}

// requestJSON reads a request. The client leaves a false discoverPromoCodes out
// and writes the numbers of selections as their text.
func requestJSON(a *account, body []byte) any {
	a.Helper()
	if len(body) == 0 {
		return map[string]any{}
	}
	value := decoded(a, body)
	if o, ok := value.(map[string]any); ok {
		if o["discoverPromoCodes"] == false {
			delete(o, "discoverPromoCodes")
		}
		if selections, ok := o["variantSelections"].([]any); ok {
			for _, selection := range selections {
				if s := selection.(map[string]any); kindOf(s["value"]) == "a number" {
					s["value"] = strconv.FormatFloat(s["value"].(float64), 'f', -1, 64)
				}
			}
		}
	}
	return value
}

// checkMade holds what the client made of an answer against the answer.
func checkMade(a *account, s *spy, got made) {
	a.Helper()
	if s.answer.status/100 != 2 {
		checkError(a, *s.answer, got.err)
		return
	}
	if got.err != nil {
		a.Errorf("the client made of %d: %v", s.answer.status, got.err)
		return
	}
	bodies := []json.RawMessage{s.answer.body}
	if got.list {
		var page struct{ Data []json.RawMessage }
		if err := json.Unmarshal(s.answer.body, &page); err != nil {
			a.Fatal(err)
		}
		bodies = page.Data
	}
	if len(bodies) != len(got.values) {
		a.Fatalf("the client made %d values of %d", len(got.values), len(bodies))
	}
	for i, value := range got.values {
		checkValue(a, value, bodies[i])
	}
}

// checkError holds the client's error against the body, the header and the
// status.
func checkError(a *account, r response, err error) {
	a.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Status != r.status {
		a.Fatalf("the client made of %d: %v", r.status, err)
	}
	var body validationWire
	if json.Valid(r.body) {
		if err := json.Unmarshal(r.body, &body); err != nil {
			a.Fatal(err)
		}
		if string(e.Name) != body.Name || string(e.Message) != body.Message || len(e.Fields) != len(body.Fields) {
			a.Errorf("the client made %+v of %s", e, r.body)
		}
	}
	for _, field := range e.Fields {
		if string(field.Message) != body.Fields[string(field.Field)].Message {
			a.Errorf("the client made %q of the field %s", field.Message, field.Field)
		}
	}
	if string(e.RequestID) != r.header.Get("X-Request-Id") || e.Reset != longestReset(r.header) {
		a.Errorf("the client made request id %q and a reset after %v of %v", e.RequestID, e.Reset, r.header)
	}
	if seconds, _ := strconv.Atoi(r.header.Get("Retry-After")); int(e.RetryAfter.Seconds()) != seconds {
		a.Errorf("the client made %v of Retry-After %d", e.RetryAfter, seconds)
	}
	checkKinds(a, e, body.Message)
}

// longestReset is when the last of the empty buckets of an answer comes back.
func longestReset(header http.Header) (longest time.Duration) {
	for _, r := range quota.ParseFields(header).Reports {
		if r.RemainingKnown && r.Remaining == 0 {
			longest = max(longest, r.Reset)
		}
	}
	return longest
}

// checkKinds holds what errors.Is says of an error against the contract.
func checkKinds(a *account, e *api.Error, message string) {
	a.Helper()
	want := map[int][]error{
		401: {api.ErrUnauthorized}, 403: {api.ErrForbidden}, 404: {api.ErrNotFound}, 409: {api.ErrConflict}, 422: {api.ErrValidation}, 429: {api.ErrRateLimited},
	}[e.Status]
	if e.Status == http.StatusTooManyRequests {
		switch {
		case strings.Contains(message, "per second"):
			want = append(want, api.ErrPerSecond)
		case strings.Contains(message, "per day"):
			want = append(want, api.ErrDailyLimit)
		default:
			want = append(want, api.ErrAgentsLimit)
		}
	}
	for _, kind := range []error{
		api.ErrUnauthorized, api.ErrForbidden, api.ErrNotFound, api.ErrConflict, api.ErrValidation,
		api.ErrRateLimited, api.ErrPerSecond, api.ErrDailyLimit, api.ErrAgentsLimit,
	} {
		if errors.Is(e, kind) != slices.Contains(want, kind) {
			a.Errorf("%v: errors.Is says %t of %v", e, errors.Is(e, kind), kind)
		}
	}
}

// Context is that of the test, so that a call ends with it.
func (a *account) Context() context.Context { return a.T.Context() }
