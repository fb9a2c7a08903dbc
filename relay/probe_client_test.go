package relay

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAProbeAsksARelayBelowAPath(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://relay.example", "https://relay.example/readyz"},
		{"https://relay.example/team", "https://relay.example/team/readyz"},
		{"https://relay.example/team/", "https://relay.example/team/readyz"},
		{"https://relay.example/team/livez", "https://relay.example/team/livez"},
	} {
		probe, err := NewProbe(test.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if probe.URL() != test.want {
			t.Errorf("%s: asks %s", test.url, probe.URL())
		}
	}
}

func TestAProbeDoesNotAskWhereTheServiceDelivers(t *testing.T) {
	if _, err := NewProbe("https://relay.example/team/webhooks", nil); err == nil || !strings.Contains(err.Error(), "without /webhooks") {
		t.Error(err)
	}
}

func TestAProbeTrustsNoCertificateButOnItsOwnMachine(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ready\n")) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // that it is not trusted
	server.StartTLS()
	defer server.Close()
	toServer := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	for _, test := range []struct{ url, want string }{
		{"https://127.0.0.1:7430", ""},
		{"https://[::1]:7430", ""},
		{"https://localhost", ""},
		{"https://localhost.example", "the certificate of https://localhost.example/readyz"},
		{"https://relay.example", "the certificate of https://relay.example/readyz"},
		{"https://192.0.2.1", "the certificate of https://192.0.2.1/readyz"},
	} {
		probe, err := NewProbe(test.url, toServer)
		if err != nil {
			t.Fatal(err)
		}
		status, err := probe.Ask(t.Context())
		if test.want == "" && (err != nil || status != http.StatusOK) || test.want != "" && (err == nil || status != 0 || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %d, %v", test.url, status, err)
		}
	}
}
