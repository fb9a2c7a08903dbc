package forward

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// byHost is an endpoint that refuses what is sent to some hosts.
type byHost struct {
	*endpoint
	fails map[string]bool
}

func (b byHost) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.fails[request.URL.Host] {
		return nil, io.ErrUnexpectedEOF
	}
	return b.endpoint.RoundTrip(request)
}

func TestAnAttemptIsMadeAsTheServiceMakesIt(t *testing.T) {
	body := `{"id": "evt_1",  "type":"shipment.created", "source":{"type":"shipment","id":"shp_1"}}`
	event, err := api.DecodeEvent([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var got *http.Request
	var gotBody []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		gotBody, _ = io.ReadAll(r.Body)
		w.Header().Set("Set-Cookie", "session=secret")
		_, _ = io.WriteString(w, `{"email":"hidden@example.com","ok":true}`)
	}))
	defer server.Close()
	item := relay.Item{Event: event, Received: time.Unix(1_700_000_000, 0)}
	s := Sender{Prefix: "x-svc-", Sign: func(body []byte) string { return "v0=of " + string(body) }, Transport: NewTransport(),
		Header: http.Header{"X-Team": {"checkout"}, "Host": {"shop.example"}, "Authorization": {"Bearer secret"}}}
	d := s.Send(t.Context(), server.URL+"/hooks?token=1", item, delivery.Delivery{})
	for name, want := range map[string]string{
		"x-svc-event-id": "evt_1", "x-svc-topic": "shipment.created", "x-svc-timestamp": "1700000000", "x-svc-signature": "v0=of " + body,
		"X-Team": "checkout", "Authorization": "Bearer secret", "Content-Type": "application/json",
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s is %q, not %q", name, values, want)
		}
	}
	if string(gotBody) != body || got.Method != http.MethodPost || got.Host != "shop.example" || got.URL.RequestURI() != "/hooks?token=1" {
		t.Errorf("what arrives is %s %s at %s: %s", got.Method, got.URL, got.Host, gotBody)
	}
	if d.State != delivery.Delivered || d.Attempts != 1 || d.Status != 200 || d.Sent.IsZero() || string(d.Answer.Body) != `{"email":"[masked]","ok":true}` {
		t.Errorf("what became of it is %+v: %s", d, d.Answer.Body)
	}
	for _, message := range []delivery.Message{d.Request, d.Answer} {
		for name, values := range message.Header {
			if strings.Contains(strings.Join(values, " "), "secret") {
				t.Errorf("%s is kept as %q", name, values)
			}
		}
	}
	s.Fresh, s.Sign = true, nil
	if s.Send(t.Context(), server.URL, item, d); got.Header.Get("x-svc-timestamp") == "1700000000" || len(got.Header.Values("x-svc-signature")) > 0 {
		t.Errorf("fresh and without a secret, the headers are %v", got.Header)
	}
}

func TestOnlyAWhole200Counts(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		state  delivery.State
		status int
		error  string
	}{
		{"200", func(http.ResponseWriter) {}, delivery.Delivered, 200, ""},
		{"another success", func(w http.ResponseWriter) { w.WriteHeader(204) }, delivery.Waiting, 204, ""},
		{"somewhere else", func(w http.ResponseWriter) { w.Header().Set("Location", "/there"); w.WriteHeader(307) }, delivery.Waiting, 307, ""},
		{"a failure", func(w http.ResponseWriter) { w.WriteHeader(500) }, delivery.Waiting, 500, ""},
		{"half an answer", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "9"); _, _ = io.WriteString(w, "half") }, delivery.Waiting, 200, "it ended the connection before the answer was whole"},
		{"none", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, delivery.Waiting, 0, "it ended the connection before the answer was whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) }))
			defer server.Close()
			s := Sender{Prefix: "x-svc-", Transport: NewTransport()}
			d := s.Send(t.Context(), server.URL, relay.Item{}, delivery.Delivery{Error: "of earlier", Attempts: 2})
			if d.State != c.state || d.Status != c.status || string(d.Error) != c.error || d.Attempts != 3 {
				t.Errorf("it becomes %s %d %q", d.State, d.Status, d.Error)
			}
		})
	}
}

// Over HTTP/2, net/http repeats a delivery by itself, without end, while the target resets its stream.
func TestATargetIsSpokenToInHTTP1(t *testing.T) {
	spoken := make(chan string, 1)
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spoken <- r.Proto }))
	target.EnableHTTP2 = true
	target.StartTLS()
	defer target.Close()
	transport := NewTransport().(*http.Transport)
	defer transport.CloseIdleConnections()
	transport.TLSClientConfig.RootCAs = target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s := Sender{Prefix: "x-svc-", Transport: transport}
	if d := s.Send(t.Context(), target.URL, relay.Item{}, delivery.Delivery{}); d.State != delivery.Delivered {
		t.Fatalf("it becomes %s: %s", d.State, d.Error)
	}
	if proto := <-spoken; proto != "HTTP/1.1" {
		t.Errorf("the target is spoken to in %s", proto)
	}
}

func TestNoAnswerShowsTheSecretsOfItsRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, strings.Join([]string{r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("X-Version"),
			strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + " is unknown"}, "\n"))
	}))
	defer server.Close()
	s := Sender{Prefix: "x-svc-", Transport: NewTransport(), Header: http.Header{"Authorization": {"Bearer tell-nobody"}, "X-Key": {"tell-nobody-else"}, "X-Version": {"1.0"}}}
	d := s.Send(t.Context(), server.URL+"/hooks?token=tell-no-one", relay.Item{}, delivery.Delivery{})
	if want := "/hooks?[redacted]\n[redacted]\n[redacted]\n1.0\n[redacted] is unknown"; string(d.Answer.Body) != want {
		t.Errorf("%q is kept, not %q", d.Answer.Body, want)
	}
	if got := d.Answer.Header.Get("X-Echo"); got != delivery.Hidden {
		t.Errorf("X-Echo is kept as %q", got)
	}
}

func TestNoAnswerShowsTheSecretsOfItsTarget(t *testing.T) {
	for _, c := range []struct{ name, query, answer, want string }{
		{"a value", "sig=tell-no-one&v=1", "bad sig tell-no-one of v 1", "bad sig [redacted] of v 1"},
		{"a decoded value", "sig=tell%20no%2Fone&v=1", "bad sig tell no/one", "bad sig [redacted]"},
		{"a value as it was written", "sig=tell%20no%2fone&v=1", "bad sig tell%20no%2fone", "bad sig [redacted]"},
		{"an encoded value", "sig=tell no/one&v=1", "bad sig tell+no%2Fone", "bad sig [redacted]"},
		{"a value with one that begins like it", "a=tell-no-one&b=tell-no-one-else", "tell-no-one-else, tell-no-one", "[redacted], [redacted]"},
		{"a value that cannot be decoded", "sig=tell%zzone&v=1", "bad sig tell%zzone", "bad sig [redacted]"},
		{"a value before a semicolon", "sig=tell-no-one;v=1", "bad sig tell-no-one", "bad sig [redacted]"},
		{"what has no name", "tell-no-one&v=1", "unknown key tell-no-one", "unknown key [redacted]"},
		{"the query in JSON", "sig=tell-no-one&v=1", `{"message":"cannot POST /hooks?sig=tell-no-one\u0026v=1"}`, `{"message":"cannot POST /hooks?[redacted]"}`},
		{"a value in JSON", "sig=tell%22no%26one", `{"message":"bad sig tell\"no\u0026one"}`, `{"message":"bad sig [redacted]"}`},
		{"a short value", "sig=tell-no-one&v=1", "v=1", "v=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := kept([]byte(c.answer), new(Sender).secrets("http://target?"+c.query))
			if string(got) != c.want {
				t.Errorf("%q is kept, not %q", got, c.want)
			}
		})
	}
}

func TestNoErrorShowsTheSecretsOfTheRequest(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"the request as the answer", "", `malformed HTTP status code "/hooks?[redacted]"`},
		{"the request as a header", "HTTP/1.1 200 OK\r\n", `malformed MIME header: missing colon: "POST /hooks?[redacted] HTTP/1.1"`},
		{"an added header as the answer", "HTTP/1.1 tell-nobody\r\n", `malformed HTTP status code "[redacted]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				_, _ = io.WriteString(conn, c.before+"POST "+r.RequestURI+" HTTP/1.1\r\n\r\n")
				_ = conn.Close()
			}))
			defer server.Close()
			s := Sender{Prefix: "x-svc-", Transport: NewTransport(), Header: http.Header{"Authorization": {"Bearer tell-nobody"}}}
			d := s.Send(t.Context(), server.URL+"/hooks?token=tell-no-one#there", relay.Item{}, delivery.Delivery{})
			if !strings.HasSuffix(string(d.Error), c.want) {
				t.Errorf("the error is %q", d.Error)
			}
		})
	}
}

func TestWhatIsKeptOfAnAnswerIsMasked(t *testing.T) {
	long := strings.Repeat("x", 5_000)
	for _, c := range []struct{ name, body, want string }{
		{"text", "  thank you\n", "thank you"},
		{"a page", "<p>" + long, "<p>" + long[:delivery.KeptAnswer-3]},
		{"JSON", `{"buyer":{"email":"a@b.example"}}`, `{"buyer":{"email":"[masked]"}}`},
		{"what begins as JSON", `{"buyer":{"email":"a@b.example"}`, `"[not JSON: 32 bytes]"`},
		{"a long list", `["` + long + `"]`, `["` + long[:delivery.KeptAnswer-2]},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(kept([]byte(c.body), strings.NewReplacer())); got != c.want {
				t.Errorf("%.60q is kept, not %.60q", got, c.want)
			}
		})
	}
}
