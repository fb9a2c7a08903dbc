package proxy

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAServiceThatIsDownIsAnsweredForAndSaid(t *testing.T) {
	upstream := service(t, nil)
	upstream.Close()
	p := stand(t, upstream.URL, nil)
	client := caller(t)
	for range 20 {
		answer, body := fetch(t, client, newRequest(t, "POST", p.url+"/api/v1/checkout-intents", "{}"))
		var told struct{ Name, Message string }
		err := json.Unmarshal([]byte(body), &told)
		if err != nil || answer.StatusCode != http.StatusBadGateway || told.Name != "BadGatewayError" ||
			!strings.Contains(told.Message, "cannot be reached, and the request was not sent") ||
			!strings.Contains(answer.Header.Get("Content-Type"), "json") {
			t.Fatalf("%d %s, %v", answer.StatusCode, body, err)
		}
	}
	if n := strings.Count(p.log.String(), "the service gave no answer"); n != 1 {
		t.Errorf("20 failures were said %d times: %s", n, p.log.String())
	}
	if err := p.end(); err != nil || len(p.reported.all()) != 20 || p.reported.all()[0].Status != 0 {
		t.Errorf("%v, %d observations", err, len(p.reported.all()))
	}
	if !strings.Contains(p.log.String(), "more_since_last=19") {
		t.Errorf("the others were not counted: %s", p.log.String())
	}
}

func TestARequestWithoutAConnectionWasNotSent(t *testing.T) {
	const tooLong = 100 * time.Millisecond
	for name, test := range map[string]struct {
		why   string
		greet func(net.Conn)
	}{
		"the service hangs up":     {"the connection broke", func(conn net.Conn) { _, _ = conn.Read(make([]byte, 64<<10)) }},
		"the service says nothing": {"it took too long", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }},
		"the service speaks no TLS": {"tls: first record does not look like a TLS handshake", func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, "220 ready\r\n")
		}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(name+", "+method, func(t *testing.T) {
				p := stand(t, "https://127.0.0.1:1", nil)
				p.service.fresh.TLSHandshakeTimeout, p.service.shared.TLSHandshakeTimeout = tooLong, tooLong
				p.reach(func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						test.greet(there)
					}()
					return here, nil
				})
				_, body := fetch(t, caller(t), newRequest(t, method, p.url+"/", ""))
				if !strings.Contains(body, "and the request was not sent: "+test.why) ||
					!strings.Contains(p.log.String(), "sent=false") {
					t.Errorf("answered %s, said %s", body, p.log.String())
				}
			})
		}
	}
}

func TestTheServicesCertificateIsVerified(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the service was asked")
	}))
	defer upstream.Close()
	upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p := stand(t, upstream.URL, nil)
	answer, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events", ""))
	if answer.StatusCode != http.StatusBadGateway || !strings.Contains(body, "certificate") ||
		!strings.Contains(body, "not sent") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}
