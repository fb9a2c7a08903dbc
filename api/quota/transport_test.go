package quota

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// tripper answers requests without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering gives one answer to everything.
func answering(status int, header http.Header, body string) tripper {
	return func(r *http.Request) (*http.Response, error) {
		if header == nil {
			header = http.Header{"Content-Type": {"application/json"}}
		}
		return &http.Response{StatusCode: status, Header: header, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// observed sends a request through a transport, reads its answer, and returns
// what was reported.
func observed(t *testing.T, transport *Transport, r *http.Request) []Observation {
	t.Helper()
	var all []Observation
	transport.Observe = func(o Observation) { all = append(all, o) }
	answer, err := transport.RoundTrip(r)
	if err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	return all
}

func request(method, url string, header ...string) *http.Request {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

const intentURL = "https://api.example/api/v1/checkout-intents/ci_1"

func TestAnObservationHoldsWhatTheHeadersSaid(t *testing.T) {
	base := answering(http.StatusTooManyRequests, http.Header{
		"Ratelimit":        {`"reads";r=0;t=1`, `"hour";r=12;t=60`},
		"Ratelimit-Policy": {`"reads";q=10;w=1, "hour";q=100;w=3600`},
		"Retry-After":      {"2"},
	}, `{"message":"Too many requests per second"}`)
	before := time.Now()
	all := observed(t, &Transport{Base: base}, request("GET", intentURL+"?expand=offer", "Authorization", "Bearer a-key-of-mine", "User-Agent", "shop/1.2"))
	if len(all) != 1 {
		t.Fatalf("%d observations of one request", len(all))
	}
	o := all[0]
	if o.Method != "GET" || o.Endpoint != "/api/v1/checkout-intents/{id}" || o.Class != Reads || o.Status != 429 || o.RetryAfter != 2*time.Second || o.Spender != "shop/1.2" || len(o.Key) != 16 || o.ID == "" {
		t.Errorf("got %+v", o)
	}
	if o.Sent.Before(before) || o.Latency <= 0 || o.Sent.Add(o.Latency).After(time.Now()) {
		t.Errorf("sent %v, latency %v", o.Sent, o.Latency)
	}
	want := []Report{
		{Policy: "reads", Limit: 10, Window: time.Second, PolicyKnown: true, RemainingKnown: true, Reset: time.Second, ResetKnown: true},
		{Policy: "hour", Limit: 100, Window: time.Hour, PolicyKnown: true, Remaining: 12, RemainingKnown: true, Reset: time.Minute, ResetKnown: true},
	}
	if !slices.Equal(o.Reports, want) {
		t.Errorf("reports %+v\nwant %+v", o.Reports, want)
	}
}

func TestARequestWithoutAnAnswerIsObserved(t *testing.T) {
	down := errors.New("connection refused")
	all := observed(t, &Transport{Base: tripper(func(*http.Request) (*http.Response, error) { return nil, down })}, request("POST", intentURL+"/confirm"))
	if len(all) != 1 || all[0].Status != 0 || all[0].Class != Mutations || all[0].Key != "" {
		t.Errorf("got %+v", all)
	}
}

func TestTwoKeysAreTwoSpendersAndNeitherIsShown(t *testing.T) {
	of := func(url, key string) string {
		return observed(t, &Transport{Base: answering(200, nil, "{}")}, request("GET", url, "Authorization", key))[0].Key
	}
	one := of(intentURL, "Bearer marked-key-one")
	if again := of(intentURL, "bearer  marked-key-one"); again != one {
		t.Errorf("one key has two fingerprints, %s and %s", one, again)
	}
	if other := of(intentURL, "Bearer marked-key-two"); other == one {
		t.Error("two keys have one fingerprint")
	}
	if elsewhere := of("https://other.example/", "Bearer marked-key-one"); elsewhere == one {
		t.Error("one key has the same fingerprint at two services")
	}
	if strings.Contains(one, "marked") {
		t.Errorf("the fingerprint %s shows the key", one)
	}
}

func TestASpenderIsWhoItSaysItIs(t *testing.T) {
	tests := []struct {
		name, header string
		sent         []string
		want         string
	}{
		{"by its user agent", "", []string{"User-Agent", "python-requests/2.32"}, "python-requests/2.32"},
		{"by a header of choice", "X-Job", []string{"User-Agent", "curl", "X-Job", "nightly"}, "nightly"},
		{"nameless", "X-Job", []string{"User-Agent", "curl"}, ""},
		{"with an escape sequence", "", []string{"User-Agent", "a\x1b[31mred"}, "a.[31mred"},
		{"with a long name", "", []string{"User-Agent", strings.Repeat("n", 500)}, strings.Repeat("n", maxSpender)},
		{"with the key in its name", "", []string{"Authorization", "Bearer marked-key", "User-Agent", "shop (marked-key)"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := observed(t, &Transport{Base: answering(200, nil, "{}"), SpenderHeader: test.header}, request("GET", intentURL, test.sent...))
			if all[0].Spender != test.want {
				t.Errorf("got %q, want %q", all[0].Spender, test.want)
			}
		})
	}
}

func TestSmallAnswersAboutAnIntentNameIt(t *testing.T) {
	const intent = `{"id":"ci_7","state":"awaiting_confirmation","referenceId":"order-1","buyer":{"email":"marked-buyer@example"},"paymentMethod":{"vaultToken":"marked-token"}}`
	tests := []struct {
		name, method, path string
		status             int
		body, encoding     string
		named              bool
	}{
		{"create", "POST", intentsPath, 201, intent, "", true},
		{"purchase", "POST", purchasePath, 201, intent, "", true},
		{"get", "GET", intentsPath + "/ci_7", 200, intent, "", true},
		{"confirm", "POST", intentsPath + "/ci_7/confirm", 200, intent, "", true},
		{"behind a byte order mark", "GET", intentsPath + "/ci_7", 200, "\ufeff" + intent, "", true},
		{"packed", "GET", intentsPath + "/ci_7", 200, zipped(intent), "gzip", true},
		{"packed in another way", "GET", intentsPath + "/ci_7", 200, intent, "br", false},
		{"packed, it says", "GET", intentsPath + "/ci_7", 200, intent, "gzip", false},
		{"packed, and large", "GET", intentsPath + "/ci_7", 200, zipped(`{"id":"ci_7","state":"failed","pad":"` + strings.Repeat("x", 64<<20) + `"}`), "gzip", false},
		{"the list", "GET", intentsPath, 200, intent, "", false},
		{"an event", "GET", "/api/v1/events/ci_7", 200, intent, "", false},
		{"a refusal", "POST", intentsPath, 422, intent, "", false},
		{"large", "GET", intentsPath + "/ci_7", 200, `{"id":"ci_7","state":"failed","pad":"` + strings.Repeat("x", maxIntent) + `"}`, "", false},
		{"broken off", "GET", intentsPath + "/ci_7", 200, intent[:60], "", false},
		{"no object", "GET", intentsPath + "/ci_7", 200, `["ci_7"]`, "", false},
		{"an id that is no text", "GET", intentsPath + "/ci_7", 200, `{"id":{"buyer":"x"},"state":"failed"}`, "", false},
		{"an id with an escape sequence", "GET", intentsPath + "/ci_7", 200, `{"id":"ci_\u001b[31m","state":"failed"}`, "", false},
		{"a state that is none", "GET", intentsPath + "/ci_7", 200, `{"id":"ci_7","state":"Jane Doe"}`, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
			if test.encoding != "" {
				header.Set("Content-Encoding", test.encoding)
			}
			o := observed(t, &Transport{Base: answering(test.status, header, test.body)}, request(test.method, "https://api.example"+test.path))[0]
			if test.named != (o.IntentID == "ci_7" && o.State == "awaiting_confirmation" && o.Reference == "order-1") || !test.named && o.IntentID+o.State+o.Reference != "" {
				t.Errorf("got %q in %q for %q, want it named: %v", o.IntentID, o.State, o.Reference, test.named)
			}
			if told, _ := json.Marshal(o); bytes.Contains(told, []byte("marked")) {
				t.Errorf("it reports more: %s", told)
			}
		})
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to memory: cannot fail
	_ = w.Close()
	return b.String()
}

func TestATransportChangesNothing(t *testing.T) {
	r := request("GET", intentURL, "Authorization", "Bearer k", "X-Any", "thing")
	header := r.Header.Clone()
	sent := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "Ratelimit": {`"a";r=1;t=1`}}, Trailer: http.Header{"Sum": nil}, ContentLength: 12}
	whole := *sent
	sent.Body = io.NopCloser(strings.NewReader(`{"id":"ci_7"}`))
	transport := &Transport{Observe: func(Observation) {}, Base: tripper(func(got *http.Request) (*http.Response, error) {
		if got != r {
			t.Error("another request went on")
		}
		return sent, nil
	})}
	answer, err := transport.RoundTrip(r)
	if err != nil || answer != sent {
		t.Fatalf("another answer came: %v", err)
	}
	body, _ := io.ReadAll(answer.Body)
	if string(body) != `{"id":"ci_7"}` || answer.Status != whole.Status || answer.ContentLength != whole.ContentLength || !sameHeader(answer.Header, whole.Header) || !sameHeader(r.Header, header) {
		t.Errorf("the answer is %+v with %q", answer, body)
	}
}

func sameHeader(a, b http.Header) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			return false
		}
	}
	return true
}

func TestABodyPassesBeforeItIsLookedAt(t *testing.T) {
	source, service := io.Pipe()
	var all []Observation
	transport := &Transport{Observe: func(o Observation) { all = append(all, o) }, Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Body: source}, nil
	})}
	answer, err := transport.RoundTrip(request("GET", intentURL))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = service.Write([]byte(`{"id":`)) }()
	part := make([]byte, 100)
	if n, err := answer.Body.Read(part); string(part[:n]) != `{"id":` || err != nil || len(all) != 0 {
		t.Fatalf("read %q, %v; %d observations", part[:n], err, len(all))
	}
	answer.Body.Close()
	answer.Body.Close()
	if _, err := answer.Body.Read(part); err == nil || len(all) != 1 || all[0].Status != 200 || all[0].IntentID != "" {
		t.Errorf("of an answer that was closed early: %+v, %v", all, err)
	}
}

func TestTheLatencyEndsWithTheAnswerHoweverLateItsBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []Observation
		base := answering(http.StatusOK, nil, `{"id":"ci_1","state":"completed"}`)
		answer, err := (&Transport{Base: base, Observe: func(o Observation) { all = append(all, o) }}).RoundTrip(request("GET", intentURL))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		_, _ = io.Copy(io.Discard, answer.Body)
		if len(all) > 0 {
			t.Errorf("reported before it was closed: %+v", all)
		}
		time.Sleep(time.Minute)
		answer.Body.Close()
		answer.Body.Close()
		if len(all) != 1 || all[0].Latency != 2*time.Second || all[0].IntentID != "ci_1" {
			t.Errorf("reported %+v", all)
		}
	})
}

func TestAnUpgradedConnectionStaysWhatItIs(t *testing.T) {
	var stream io.ReadWriteCloser = struct {
		io.ReadWriter
		io.Closer
	}{}
	base := tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: stream}, nil
	})
	var all []Observation
	answer, err := (&Transport{Base: base, Observe: func(o Observation) { all = append(all, o) }}).RoundTrip(request("GET", intentURL))
	if err != nil || answer.Body != stream || len(all) != 1 || all[0].Status != 101 {
		t.Errorf("%v, %+v", err, all)
	}
}
