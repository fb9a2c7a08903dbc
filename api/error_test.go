package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

var kinds = map[string]error{
	"not found": ErrNotFound, "missing": ErrMissing, "unauthorized": ErrUnauthorized, "forbidden": ErrForbidden, "validation": ErrValidation,
	"rate limited": ErrRateLimited, "per second": ErrPerSecond, "daily": ErrDailyLimit, "agents": ErrAgentsLimit,
	"conflict": ErrConflict, "not served": ErrNotServed,
}

// kindsOf lists what errors.Is says of err.
func kindsOf(err error) string {
	var names []string
	for _, name := range []string{"not found", "missing", "unauthorized", "forbidden", "validation", "rate limited", "per second", "daily", "agents", "conflict", "not served"} {
		if errors.Is(err, kinds[name]) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func answerOf(f fixture) *Error {
	return answerError(get("/api/v1/x", nil), []Secret{NewSecret(testKey)}, f.Status, f.header(), f.sent(), time.Now())
}

func TestEveryFixtureErrorIsUnderstood(t *testing.T) {
	statusKinds := map[int]string{400: "", 401: "unauthorized", 403: "forbidden", 404: "not found", 409: "conflict", 422: "validation", 500: "", 503: ""}
	for _, f := range fixtures(t, "10-errors.json") {
		t.Run(f.Name, func(t *testing.T) {
			e := answerOf(f)
			want, ok := statusKinds[f.Status]
			if f.Status == 404 && f.Schema == "NotFoundError" {
				want += ", missing" // an answer of the service itself
			}
			if !ok {
				want = "rate limited, per second"
				if strings.Contains(f.Name, "daily") {
					want = "rate limited, daily"
				}
				if strings.Contains(f.Name, "agents") {
					want = "rate limited, agents"
				}
			}
			same(t, "kinds", kindsOf(e), want)
			printed := e.Error()
			for _, private := range []string{"auth.js", "cash", `"101"`, "-1", "lost", "<"} {
				if strings.Contains(printed, private) {
					t.Errorf("%q shows %q", printed, private)
				}
			}
			if !strings.HasPrefix(printed, fmt.Sprintf("GET /api/v1/x: %d ", f.Status)) {
				t.Errorf("it does not say what was asked: %q", printed)
			}
		})
	}
}

func TestErrorsReadLikeSentences(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   string
	}{
		{"not found", 404, map[string]string{"X-Request-Id": "r-7"}, `{"name":"NotFoundError","message":"Checkout intent not found"}`,
			"GET /api/v1/x: 404 not found: Checkout intent not found (request id r-7)"},
		{"a trace id of the brand", 404, map[string]string{"Brand-Trace-Id": "t-7"}, `{}`, "GET /api/v1/x: 404 not found (request id t-7) (not as the service says it: is the base URL right?)"},
		{"fields with an empty message", 422, nil, `{"name":"ValidateError","message":"","status":400,"fields":{"body.b":{"message":"'b' is required"},"body.a":{"message":"min 0","value":-1}}}`,
			"GET /api/v1/x: 422 unprocessable entity: ValidateError; body.b: 'b' is required; body.a: min 0"},
		{"a union that repeats values", 422, nil, `{"fields":{"body.p":{"message":"Could not match the union against any of the items. Issues: [{\"value\":\"tok_1\"}]"}}}`,
			"GET /api/v1/x: 422 unprocessable entity: body.p: Could not match the union against any of the items."},
		{"conflict with a state", 409, nil, `{"name":"InvalidCheckoutIntentStateError","message":"no","state":"placing_order"}`,
			"GET /api/v1/x: 409 conflict: no (state placing_order)"},
		{"per second", 429, map[string]string{"Retry-After": "1"}, `{"message":"Too many requests per second"}`,
			"GET /api/v1/x: 429 too many requests: Too many requests per second (retry after 1s)"},
		{"tomorrow", 429, map[string]string{"Retry-After": "99999"}, `{"message":"the limit of 50 per day"}`,
			"GET /api/v1/x: 429 too many requests: the limit of 50 per day (retry after 25h)"},
		{"soon", 429, map[string]string{"Retry-After": "5461"}, `{"message":"wait"}`,
			"GET /api/v1/x: 429 too many requests: wait (retry after 1h31m1s)"},
		{"a JSON string", 500, nil, `"it broke"`, "GET /api/v1/x: 500 internal server error: it broke"},
		{"plain text", 502, nil, "upstream\nat host", "GET /api/v1/x: 502 bad gateway: upstream"},
		{"HTML with a title", 503, nil, "<HTML><head><TITLE lang=en>\n Down for\n maintenance </TITLE>", "GET /api/v1/x: 503 service unavailable: Down for maintenance"},
		{"HTML without a title", 503, nil, "<html>x", "GET /api/v1/x: 503 service unavailable"},
		{"nothing", 500, nil, "", "GET /api/v1/x: 500 internal server error"},
		{"an array", 500, nil, "[1]", "GET /api/v1/x: 500 internal server error"},
		{"wrong types", 500, nil, `{"name":1,"message":{},"fields":[],"state":7,"retryAfter":[]}`, "GET /api/v1/x: 500 internal server error"},
		{"a status without a name", 599, nil, ``, "GET /api/v1/x: 599"},
		{"escape sequences", 500, nil, `{"message":"a\u001b[2Jb\r"}`, "GET /api/v1/x: 500 internal server error: a[2Jb "},
		{"the key echoed", 401, map[string]string{"X-Request-Id": testKey}, `{"message":"bad key ` + testKey + `"}`,
			"GET /api/v1/x: 401 unauthorized: bad key [redacted] (request id [redacted])"},
		{"the key echoed in JSON's other spelling", 401, nil, `{"message":"bad key ` + strings.ReplaceAll(testKey, "/", `\/`) + `"}`,
			"GET /api/v1/x: 401 unauthorized: bad key [redacted]"},
		{"the key where the text is cut", 401, nil, strings.Repeat("x", 190) + testKey, "GET /api/v1/x: 401 unauthorized: " + strings.Repeat("x", 190) + "[redacted]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{}
			for name, value := range test.header {
				header.Set(name, value)
			}
			e := answerError(get("/api/v1/x", nil), []Secret{NewSecret(testKey)}, test.status, header, []byte(test.body), time.Now())
			same(t, "error", e.Error(), test.want)
		})
	}
}

func TestValuesOfRefusedFieldsAreMaskedByTheirNames(t *testing.T) {
	body := `{"fields":{"body.quantity":{"message":"m","value":-1},"body.buyer.phone":{"message":"m","value":"555"},"body.buyer.country":{"message":"m","value":"us"},` +
		`"body.paymentMethod":{"message":"m","value":{"type":"vault_token","vaultToken":"tok_1"}},"body":{"message":"m","value":{"buyer":{"firstName":"Ada"},"x":"a\u001b[2J"}},"body.none":{"message":"m"}}}`
	want := map[Text]Text{
		"body.quantity": "-1", "body.buyer.phone": `"[masked]"`, "body.buyer.country": `"us"`, "body.none": "",
		"body.paymentMethod": `{"type":"vault_token","vaultToken":"[masked]"}`, "body": `{"buyer":{"firstName":"[masked]"},"x":"a\u001b[2J"}`,
	}
	e := answerError(get("/p", nil), nil, 422, nil, []byte(body), time.Now())
	same(t, "fields", len(e.Fields), len(want))
	for _, field := range e.Fields {
		same(t, string(field.Field), field.Value, want[field.Field])
	}
}

func TestErrorsBoundTheirFields(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"fields":{"a0":{"message":"no"}`)
	for i := range 1000 {
		fmt.Fprintf(&body, `,"f%d":{"message":"no"}`, i)
	}
	body.WriteString(`}}`)
	e := answerError(get("/p", nil), nil, 422, nil, []byte(body.String()), time.Now())
	same(t, "fields kept", len(e.Fields), 256)
	same(t, "says that there are more", strings.HasSuffix(e.Error(), "; and 248 more fields"), true)
}

func TestRateLimitsAreToldApart(t *testing.T) {
	tests := []struct {
		name, message, retryAfter, rateLimit string
		want                                 error
	}{
		{"per second", "Too many requests per second", "", "", ErrPerSecond},
		{"per second in other case", "TOO MANY REQUESTS PER SECOND", "86400", "", ErrPerSecond},
		{"agents", "You have reached the limit of 10 running agents", "", "", ErrAgentsLimit},
		{"one agent", "limit of 1 running agent", "", "", ErrAgentsLimit},
		{"per day", "limit of 50 checkout intents per day", "1", "", ErrDailyLimit},
		{"daily", "Daily limit reached", "", "", ErrDailyLimit},
		{"silent, soon", "Too many requests", "1", "", ErrPerSecond},
		{"silent, in hours", "Too many requests", "7200", "", ErrDailyLimit},
		{"silent, exhausted for hours", "Too many requests", "", `"a";r=4;t=1, "b";r=0;t=7200`, ErrDailyLimit},
		{"silent, full for hours", "Too many requests", "", `"a";r=0;t=1, "b";r=9;t=7200`, ErrPerSecond},
		{"silent, retry-after wins", "Too many requests", "2", `"b";r=0;t=7200`, ErrPerSecond},
		{"nothing at all", "", "", "", ErrPerSecond},
		{"malformed header", "", "", `"a";r=0;t=7200, garbage"`, ErrPerSecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{}
			header.Set("Retry-After", test.retryAfter)
			header.Set("RateLimit", test.rateLimit)
			e := answerError(get("/p", nil), nil, 429, header, fmt.Appendf(nil, `{"message":%q}`, test.message), time.Now())
			for _, kind := range []error{ErrPerSecond, ErrDailyLimit, ErrAgentsLimit} {
				same(t, kind.Error(), errors.Is(e, kind), kind == test.want)
			}
			same(t, "rate limited", errors.Is(e, ErrRateLimited), true)
		})
	}
}

func TestARefusalNamesALimit(t *testing.T) {
	for message, want := range map[string]int{
		"You have reached the limit of 50 checkout intents per day":    50,
		"Daily limit of 2,000 exceeded. Try again in 6 hours.":         2000,
		"Wait 24 hours: 75 intents a day are allowed":                  75,
		"no more than 50 per 24h":                                      50,
		"Too many today":                                               0,
		"retry in 30 s or in 2 days (error e42, 0 left)":               0,
		"the limit of 99999999999999999999 intents per day was passed": 0,
	} {
		if got := (&Error{Status: 429, Message: Text(message)}).NamedLimit(); got != want {
			t.Errorf("%q names %d, want %d", message, got, want)
		}
	}
}

func TestRetryAfterComesFromTheHeaderOrElseTheBody(t *testing.T) {
	now := time.Date(2026, 6, 18, 14, 0, 0, 0, time.UTC)
	tests := []struct {
		name, header, body string
		want               time.Duration
	}{
		{"seconds", "2", `{}`, 2 * time.Second},
		{"a date", "Thu, 18 Jun 2026 14:01:00 GMT", `{}`, time.Minute},
		{"the body's string", "", `{"retryAfter":"3"}`, 3 * time.Second},
		{"the body's number", "", `{"retryAfter":3}`, 3 * time.Second},
		{"both", "2", `{"retryAfter":"3"}`, 2 * time.Second},
		{"nonsense", "soon", `{"retryAfter":"-1"}`, 0},
		{"an absurd body", "", `{"retryAfter":99999999999999999999}`, 0},
		{"neither", "", `{}`, 0},
	}
	for _, test := range tests {
		header := http.Header{"Retry-After": {test.header}}
		e := answerError(get("/p", nil), nil, 429, header, []byte(test.body), now)
		same(t, test.name, e.RetryAfter, test.want)
	}
}

func TestErrorsSayWhenTheQuotaComesBack(t *testing.T) {
	header := http.Header{}
	header.Add("RateLimit", `"mutations"; r=2; t=1`)
	header.Add("RateLimit", `"checkout-intents";r=0;t=86399`)
	header.Add("RateLimit-Policy", `"mutations";q=5;w=1`)
	e := answerError(get("/p", nil), nil, 429, header, nil, time.Now())
	same(t, "the empty bucket's", e.Reset, 86399*time.Second)
	header.Set("RateLimit", `"mutations"; r=2; t=1`)
	same(t, "where none is empty", answerError(get("/p", nil), nil, 429, header, nil, time.Now()).Reset, 0)
}

func TestErrorsAnswerIsTheirKindWhenMadeByHand(t *testing.T) {
	wrapped := fmt.Errorf("confirm: %w", &Error{Status: 429, Message: "limit of 10 running agents"})
	same(t, "kinds", kindsOf(wrapped), "rate limited, agents")
	same(t, "no kind", kindsOf(&Error{Status: 200}), "")
	same(t, "the service's own 404, whose message may be empty", kindsOf(&Error{Status: 404, Name: "NotFoundError"}), "not found, missing")
	same(t, "a gateway's 404", kindsOf(&Error{Status: 404, Message: "no Route matched with those values"}), "not found")
	same(t, "validation under 400", kindsOf(&Error{Status: 400, Fields: []FieldError{{Field: "a", Message: "b"}}}), "validation")
}

func TestUnknownOutcomes(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"500", &Error{Status: 500}, true},
		{"503 wrapped", fmt.Errorf("x: %w", &Error{Status: 503}), true},
		{"a redirect", &Error{Status: 302}, true},
		{"request timeout", &Error{Status: 408}, true},
		{"401", &Error{Status: 401}, false},
		{"404", &Error{Status: 404}, false},
		{"409", &Error{Status: 409}, false},
		{"422", &Error{Status: 422}, false},
		{"429", &Error{Status: 429}, false},
		{"sent, no answer", &TransportError{MaybeSent: true, Err: io.EOF}, true},
		{"never sent", &TransportError{Err: context.DeadlineExceeded}, false},
		{"unreadable", &UnreadableError{Err: io.EOF}, true},
		{"bare deadline", context.DeadlineExceeded, true},
		{"bare cancellation", fmt.Errorf("x: %w", context.Canceled), true},
		{"bare cut", io.ErrUnexpectedEOF, true},
		{"something else", errors.New("no such intent"), false},
	}
	for _, test := range tests {
		same(t, test.name, IsUnknownOutcome(test.err), test.want)
	}
}

func TestAPaymentTokenIsNotRepeatedByAnError(t *testing.T) {
	client := clientOf(t, answering(422, `{"message":"No such token: tok_1","fields":{"body.paymentMethod.tok_1":{"message":"tok_1?"}}}`))
	for name, body := range map[string]ConfirmIntent{
		"payment":                 {Payment: &PaymentMethod{VaultToken, NewSecret("tok_1")}},
		"raw":                     {Raw: []byte(`{"paymentMethod":{"type":"vault_token","vaultToken":"tok_1"}}`)},
		"intent":                  {Hidden: NewSecret("tok_1")},
		"intent's beside another": {Hidden: NewSecret("tok_1"), Payment: &PaymentMethod{VaultToken, NewSecret("tok_2")}},
	} {
		_, err := client.ConfirmIntent(t.Context(), "ci_1", body)
		if err == nil || strings.Contains(err.Error(), "tok_1") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// quoting is a connection whose server sends what is no HTTP, which net/http quotes.
type quoting string

func (q quoting) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("malformed HTTP response %q", string(q))
}

func TestWhatIsNoHTTPRepeatsNoSecret(t *testing.T) {
	c := clientOf(t, nil, func(cfg *Config) { cfg.Transport = quoting("Bearer " + testKey + " tok_1") })
	_, err := c.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{Hidden: NewSecret("tok_1")})
	if !IsUnknownOutcome(err) || strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "tok_1") || !strings.Contains(err.Error(), "malformed HTTP response") {
		t.Errorf("it says %v", err)
	}
}

func TestAServiceMayEchoAReferenceInAnotherSpelling(t *testing.T) {
	for name, c := range map[string]struct {
		sent, echoed Text
		another      bool
	}{
		"trimmed":             {" order 7 ", "order 7", false},
		"composed":            {"Cafe\u0301 7", "Caf\u00e9 7", false},
		"decomposed":          {"Caf\u00e9 7", "Cafe\u0301 7", false},
		"without its accent":  {"Caf\u00e9 7", "Cafe 7", true},
		"without its blanks":  {"order 7", "order7", true},
		"in capitals":         {"order-7", "ORDER-7", true},
		"with a longer count": {"order-7", "order-70", true},
	} {
		t.Run(name, func(t *testing.T) {
			if SameReference(c.echoed, c.sent) == c.another {
				t.Errorf("%q is the same as %q: %t", c.echoed, c.sent, !c.another)
			}
		})
	}
}

func TestABlankReferenceIsNotTheSameAsNone(t *testing.T) {
	if SameReference(" ", "") || !SameReference("", "") {
		t.Error("they are told apart wrongly")
	}
}

func FuzzErrorBody(f *testing.F) {
	for _, c := range fixtures(f, "10-errors.json") {
		f.Add(c.Status, c.Headers["RateLimit"], c.Headers["Retry-After"], c.sent())
	}
	f.Add(500, "", "", []byte("<title>İ</title>"))
	f.Fuzz(func(t *testing.T, status int, rateLimit, retry string, body []byte) {
		header := http.Header{"Ratelimit": {rateLimit}, "Retry-After": {retry}, "X-Request-Id": {retry}}
		e := answerError(get("/p", nil), []Secret{NewSecret(testKey)}, status, header, body, time.Now())
		printed := e.Error()
		if forbidden := findForbidden(printed); forbidden != "" {
			t.Fatalf("%q holds %s", printed, forbidden)
		}
		if strings.Contains(printed, testKey) {
			t.Fatalf("%q shows the key", printed)
		}
		if e.RetryAfter < 0 || len(printed) > 16<<10 {
			t.Fatalf("retry after %s, %d bytes", e.RetryAfter, len(printed))
		}
		for _, kind := range kinds {
			_ = errors.Is(e, kind)
		}
		if status == 429 && errors.Is(e, ErrPerSecond) == (errors.Is(e, ErrDailyLimit) || errors.Is(e, ErrAgentsLimit)) {
			t.Fatal("a 429 is of exactly one limit")
		}
	})
}
