package simulator

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// served is a simulator behind a real listener.
func served(t *testing.T, change func(*Config)) (address string) {
	t.Helper()
	cfg := Config{Key: api.NewSecret(testKey), History: -1}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listener.Addr().String()
}

// raw sends bytes that need not be a request and reads the answer.
func raw(t *testing.T, address, request string) response {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("the answer to %.60q is none: %v", request, err)
	}
	defer got.Body.Close()
	r := response{status: got.StatusCode, header: got.Header}
	var body strings.Builder
	if _, err := bufio.NewReader(got.Body).WriteTo(&body); err != nil {
		t.Fatalf("the body of the answer to %.60q: %v", request, err)
	}
	r.body = []byte(body.String())
	return r
}

const authorized = "Host: a\r\nAuthorization: Bearer " + testKey + "\r\n"

// requestsThatNoHandlerSees are answered before they are understood.
func requestsThatNoHandlerSees() map[string]struct {
	request string
	status  int
} {
	return map[string]struct {
		request string
		status  int
	}{
		"a path that is wrongly escaped":      {"GET /api/v1/events/%zz HTTP/1.1\r\n" + authorized + "\r\n", 400},
		"a space in the path":                 {"GET /api/v1/events/a b HTTP/1.1\r\n" + authorized + "\r\n", 400},
		"no path":                             {"GET  HTTP/1.1\r\n" + authorized + "\r\n", 400},
		"a relative path":                     {"GET api/v1/events HTTP/1.1\r\n" + authorized + "\r\n", 400},
		"no HTTP at all":                      {"\x16\x03\x01\x00\x05hello\r\n\r\n", 400},
		"a method that is none":               {"G@T / HTTP/1.1\r\n" + authorized + "\r\n", 400},
		"no Host":                             {"GET /api/v1/events/x HTTP/1.1\r\n\r\n", 400},
		"two Hosts":                           {"GET /api/v1/events/x HTTP/1.1\r\nHost: b\r\n" + authorized + "\r\n", 400},
		"a header without a colon":            {"GET /api/v1/events/x HTTP/1.1\r\n" + authorized + "Tea\r\n\r\n", 400},
		"a header name with a space":          {"GET /api/v1/events/x HTTP/1.1\r\n" + authorized + "Te a: x\r\n\r\n", 400},
		"a length that is none":               {"POST /api/v1/checkout-intents HTTP/1.1\r\n" + authorized + "Content-Length: ten\r\n\r\n", 400},
		"two lengths":                         {"POST /api/v1/checkout-intents HTTP/1.1\r\n" + authorized + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", 400},
		"headers that are too large":          {"GET /api/v1/events/x HTTP/1.1\r\n" + authorized + "X: " + strings.Repeat("x", 40_000) + "\r\n\r\n", 431},
		"a path that is too large":            {"GET /api/v1/events/" + strings.Repeat("x", 40_000) + " HTTP/1.1\r\n" + authorized + "\r\n", 431},
		"a transfer encoding that is none":    {"POST /api/v1/checkout-intents HTTP/1.1\r\n" + authorized + "Transfer-Encoding: gzip\r\n\r\n", 501},
		"a later version of HTTP":             {"GET /api/v1/events/x HTTP/3.0\r\n" + authorized + "\r\n", 505},
		"an expectation that nobody can meet": {"GET /api/v1/events/x HTTP/1.1\r\n" + authorized + "Expect: tea\r\n\r\n", 417},
		"all of the server":                   {"OPTIONS * HTTP/1.1\r\n" + authorized + "\r\n", 404},
		"all of the server, without a key":    {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 401},
		"a tunnel":                            {"CONNECT a:443 HTTP/1.1\r\n" + authorized + "\r\n", 404},
		"another method":                      {"DELETE /api/v1/shipments HTTP/1.1\r\n" + authorized + "\r\n", 404},
		"a method that nobody knows":          {"BREW /api/v1/shipments HTTP/1.1\r\n" + authorized + "\r\n", 404},
		"a body that is too large":            {"POST /api/v1/checkout-intents HTTP/1.1\r\n" + authorized + "Content-Length: 1048577\r\n\r\n" + strings.Repeat(" ", 1<<20+1), 422},
		"a body that breaks off":              {"POST /api/v1/checkout-intents HTTP/1.1\r\n" + authorized + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 422},
	}
}

func TestEveryErrorIsJSONWithTheRateLimitFields(t *testing.T) {
	address := served(t, nil)
	for name, c := range requestsThatNoHandlerSees() {
		t.Run(name, func(t *testing.T) {
			r := raw(t, address, c.request)
			if r.status != c.status {
				t.Fatalf("status %d, want %d: %s", r.status, c.status, r.body)
			}
			var body map[string]any
			if err := json.Unmarshal(r.body, &body); err != nil {
				t.Fatalf("%d with %q: %v", r.status, r.body, err)
			}
			if r.status == 422 {
				closed(t, "the body", body, []string{"name", "message", "status", "fields"})
			} else {
				closed(t, "the body", body, []string{"name", "message"})
				if body["name"] == "" || body["message"] == "" {
					t.Errorf("the body says nothing: %v", body)
				}
			}
			if kind := r.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
				t.Errorf("Content-Type is %q", kind)
			}
			if policy := r.header.Get("Ratelimit-Policy"); !strings.HasPrefix(policy, `"default";q=`) || !strings.HasPrefix(r.header.Get("Ratelimit"), `"default";r=`) {
				t.Errorf("the RateLimit fields are missing: %v", r.header)
			}
		})
	}
	t.Run("none without limits", func(t *testing.T) {
		r := raw(t, served(t, func(c *Config) { c.Limits = Unlimited() }), "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n")
		if r.status != 400 || !json.Valid(r.body) || r.header.Get("Ratelimit") != "" {
			t.Errorf("%d with %v: %s", r.status, r.header, r.body)
		}
	})
}

// A refusal before anything was understood charges nothing and keeps nothing from
// the next request.
func TestRefusalsChargeNothing(t *testing.T) {
	address := served(t, nil)
	for range 20 {
		raw(t, address, "GET /%zz HTTP/1.1\r\n"+authorized+"\r\n")
	}
	r := raw(t, address, "GET /api/v1/events/x HTTP/1.1\r\n"+authorized+"\r\n")
	reports(t, "the first that is understood", response{header: http.Header{
		"RateLimit": r.header["Ratelimit"], "RateLimit-Policy": r.header["Ratelimit-Policy"],
	}}, `"default";q=10;w=1`, `"default";r=9;t=1`)
}

// What a merchant's text holds is never taken for an answer of the server.
func TestAnswersOfHandlersPassAsTheyAre(t *testing.T) {
	address := served(t, nil)
	text := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	body := orderJSON(chiliCrisp, fmt.Sprintf(`"referenceId":%q`, text))
	r := raw(t, address, fmt.Sprintf("POST /api/v1/checkout-intents HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", authorized, len(body), body))
	var in intentWire
	if err := json.Unmarshal(r.body, &in); err != nil || r.status != http.StatusCreated || in.ReferenceID != text {
		t.Errorf("%d, %v: %s", r.status, err, r.body)
	}
}

func TestTheClientReadsARefusalOfTheServer(t *testing.T) {
	client, err := api.New(api.Config{BaseURL: "http://" + served(t, nil), Key: api.NewSecret(testKey), Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.LookupProduct(t.Context(), "https://never.example/"+url.PathEscape(strings.Repeat("x", 40_000)))
	var e *api.Error
	if !errors.As(err, &e) || e.Status != http.StatusRequestHeaderFieldsTooLarge || e.Name == "" || e.Message == "" {
		t.Errorf("the client made of it: %+v", err)
	}
}
