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
	"tillwatch/relay/signature"
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

func itemOf(t *testing.T, body string) relay.Item {
	t.Helper()
	event, err := api.DecodeEvent([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return relay.Item{Event: event, Received: time.Unix(1_700_000_000, 0)}
}

func TestAnAttemptIsMadeAsTheServiceMakesIt(t *testing.T) {
	const body = `{"id": "evt_1",  "type":"shipment.created", "source":{"type":"shipment","id":"shp_1"}}`
	var got *http.Request
	var gotBody []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		gotBody, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	secret := api.NewSecret("a-signing-secret")
	s := Sender{Prefix: "x-svc-", Secret: secret, Transport: NewTransport()}
	s.Header = http.Header{"X-Team": {"checkout"}}
	d := s.Send(t.Context(), server.URL+"/hooks?token=1", itemOf(t, body), delivery.Delivery{})
	for name, want := range map[string]string{
		"x-svc-event-id": "evt_1", "x-svc-topic": "shipment.created",
		"x-svc-signature": signature.Of(secret, []byte(body)).String(),
		"X-Team":          "checkout", "Content-Type": "application/json",
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s is %q, not %q", name, values, want)
		}
	}
	if string(gotBody) != body || got.Method != http.MethodPost || got.URL.RequestURI() != "/hooks?token=1" ||
		len(got.Header.Get("x-svc-timestamp")) != 10 {
		t.Errorf("what arrives is %s %s %v: %s", got.Method, got.URL, got.Header, gotBody)
	}
	if d.State != delivery.Delivered || d.Attempts != 1 || d.Status != 200 || d.Sent.IsZero() {
		t.Errorf("what became of it is %+v", d)
	}
	s.Secret = api.Secret{}
	if s.Send(t.Context(), server.URL, itemOf(t, body), d); len(got.Header.Values("x-svc-signature")) > 0 {
		t.Errorf("without a secret, the headers are %v", got.Header)
	}
}

func TestOnlyAWhole200Counts(t *testing.T) {
	const cut = "it ended the connection before the answer was whole"
	const event = `{"id":"evt_1","type":"shipment.created","source":{"type":"shipment","id":"shp_1"}}`
	const challenge = `{"id":"evt_1","type":"webhook_endpoint.verification_challenge",` +
		`"source":{"type":"webhook_endpoint","id":"we_1"}}`
	write := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = io.WriteString(w, text) }
	}
	for _, c := range []struct {
		name, body string
		answer     func(http.ResponseWriter)
		state      delivery.State
		status     int
		error      string
	}{
		{"200", event, func(http.ResponseWriter) {}, delivery.Delivered, 200, ""},
		{"another success", event, func(w http.ResponseWriter) { w.WriteHeader(204) }, delivery.Waiting, 204, ""},
		{"somewhere else", event, func(w http.ResponseWriter) {
			w.Header().Set("Location", "/there")
			w.WriteHeader(307)
		}, delivery.Waiting, 307, ""},
		{"a failure", event, func(w http.ResponseWriter) { w.WriteHeader(500) }, delivery.Waiting, 500, ""},
		{"half an answer", event, func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			write("half")(w)
		}, delivery.Waiting, 200, cut},
		{"none", event, func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, delivery.Waiting, 0, cut},
		{"a challenge", challenge, write(` {"challenge": "we_1"} `), delivery.Delivered, 200, ""},
		{"a challenge that is not answered", challenge, write(`{"challenge":"we_1","more":1}`),
			delivery.Waiting, 200, `the answer is not {"challenge": source.id}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) }))
			defer server.Close()
			s := Sender{Prefix: "x-svc-", Transport: NewTransport()}
			d := s.Send(t.Context(), server.URL, itemOf(t, c.body), delivery.Delivery{Error: "of earlier", Attempts: 2})
			if d.State != c.state || d.Status != c.status || string(d.Error) != c.error || d.Attempts != 3 {
				t.Errorf("it becomes %s %d %q", d.State, d.Status, d.Error)
			}
		})
	}
}

// Over HTTP/2, net/http repeats a delivery by itself, without end, while the target resets its stream.
func TestATargetIsSpokenToInHTTP1(t *testing.T) {
	spoken := make(chan string, 1)
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		spoken <- r.Proto
	}))
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

// A target may repeat what it got, as an answer or instead of one.
func TestNoSecretComesBack(t *testing.T) {
	const token = "tell-nobody"
	for _, c := range []struct {
		name, query, before, want string
		header                    http.Header
	}{
		{"nothing secret", "", "HTTP/1.1 400 \r\n\r\n", "POST /hooks HTTP/1.1", nil},
		{"a query in the answer", "?token=" + token, "HTTP/1.1 400 \r\n\r\n", "", nil},
		{"a query instead of an answer", "?token=" + token, "", "it gave no answer in HTTP", nil},
		{"a query in a header", "?token=" + token, "HTTP/1.1 200 OK\r\n", "it gave no answer in HTTP", nil},
		{"a header in the answer", "", "HTTP/1.1 400 \r\n\r\n" + token, "", http.Header{"Authorization": {token}}},
		{"a header instead of an answer", "", "HTTP/1.1 " + token, "it gave no answer in HTTP",
			http.Header{"Authorization": {token}}},
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
			s := Sender{Prefix: "x-svc-", Transport: NewTransport(), Header: c.header}
			d := s.Send(t.Context(), server.URL+"/hooks"+c.query, relay.Item{}, delivery.Delivery{})
			if got := string(d.Error) + string(d.Answer.Body); got != c.want {
				t.Errorf("%q is kept, not %q", got, c.want)
			}
		})
	}
}

func TestAnAnswerIsMasked(t *testing.T) {
	long := strings.Repeat("x", 5_000)
	for _, c := range []struct{ name, body, want string }{
		{"text", "  thank you\n", "thank you"},
		{"a page", "<p>" + long, "<p>" + long[:delivery.KeptAnswer-3]},
		{"JSON", `{"buyer":{"email":"a@b.example"}}`, `{"buyer":{"email":"[masked]"}}`},
		{"what begins as JSON", `{"buyer":{"email":"a@b.example"}`, `"[not JSON: 32 bytes]"`},
		{"a long list", `["` + long + `"]`, `["` + long[:delivery.KeptAnswer-2]},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(shownAnswer([]byte(c.body))); got != c.want {
				t.Errorf("%.60q is kept, not %.60q", got, c.want)
			}
		})
	}
}
