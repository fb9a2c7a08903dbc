package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs tillwatch relay --check and returns how it ended.
func checked(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"relay", "--check"}, args...), strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestACheckSaysWhetherARelayIsReady(t *testing.T) {
	dir := isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	t.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	newCertificate(t, certFile, keyFile, 1)
	plain := startRelayCommand(t, filepath.Join(dir, "plain"))
	secure := startRelayCommand(t, filepath.Join(dir, "secure"), "--tls-cert", certFile, "--tls-key", keyFile)
	answering := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", plain.Listen+"/readyz")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // what it is asked is never answered
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for _, test := range []struct {
		name, url string
		code      int
		status    int
		reason    string
	}{
		{"ready", plain.Listen, exitDone, 200, ""},
		{"ready, with a slash", plain.Listen + "/", exitDone, 200, ""},
		{"alive", plain.Listen + "/livez", exitDone, 200, ""},
		{"ready over TLS, with a certificate that nobody knows", secure.Listen, exitDone, 200, ""},
		{"http where TLS is spoken", "http" + strings.TrimPrefix(secure.Listen, "https"), exitFailed, 400, "speaks TLS: give https://"},
		{"https where none is spoken", "https" + strings.TrimPrefix(plain.Listen, "http"), exitFailed, 0, "does not speak TLS: give http://"},
		{"not ready", answering(503, "the journal \x1b[31mcannot be written\nmore\n"), exitFailed, 503, "the journal [31mcannot be written"},
		{"a page of another server", answering(200, "<html>ready</html>"), exitFailed, 200, "is not a relay"},
		{"a redirection", answering(302, ""), exitFailed, 302, "is not a relay"},
		{"another server", answering(404, "not found"), exitFailed, 404, "is not a relay"},
		{"a proxy with nothing to say", answering(503, ""), exitFailed, 503, "is not a relay"},
		{"nothing listens", "http://" + nowhere, exitFailed, 0, "refused"},
		{"nothing answers", "http://" + silent.Addr().String(), exitFailed, 0, "not answered in time (300ms)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			timeout := "30s"
			if strings.Contains(test.reason, "in time") {
				timeout = "300ms"
			}
			code, out, said := checked(t, test.url, "--json", "--check-timeout", timeout)
			var health relayHealth
			if err := json.Unmarshal([]byte(out), &health); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if code != test.code || health.Ready != (code == exitDone) || health.Status != test.status || !strings.HasPrefix(health.URL, "http") {
				t.Errorf("exit code %d: %s", code, out)
			}
			if reason := string(health.Reason); !strings.Contains(reason, test.reason) || (reason == "") != health.Ready || strings.Contains(reason, "more") {
				t.Errorf("the reason is %q, want %q", reason, test.reason)
			}
			if !strings.Contains(said, test.reason) || strings.Count(said, "\n") > 1 || (said == "") != health.Ready {
				t.Errorf("it said %q", said)
			}
			if code, out, _ := checked(t, test.url, "--check-timeout", timeout); code != test.code || strings.HasPrefix(out, "ready") != health.Ready {
				t.Errorf("for people: exit code %d: %s", code, out)
			}
		})
	}
}

func TestACheckThatCannotBeMeantIsRefused(t *testing.T) {
	isolate(t)
	for _, test := range []struct{ args, want string }{
		{"127.0.0.1:7430", "http:// or https://"},
		{"ws://127.0.0.1:7430", "http:// or https://"},
		{"http://", "names no host"},
		{"http://token@relay.example", "needs no token"},
		{"http://relay.example/v1/stream", "leave it out"},
		{"http://127.0.0.1:7430 --listen :7430 --data x", "leave out --data, --listen"},
		{"http://127.0.0.1:7430 --check-timeout 0s", "give a time"},
	} {
		if code, out, said := checked(t, strings.Fields(test.args)...); code != exitUsage || !strings.Contains(said, test.want) || out != "" {
			t.Errorf("%s: %d %s%s", test.args, code, out, said)
		}
	}
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"relay", "--check-timeout", "1s"}, nil, &out, &said); code != exitUsage {
		t.Errorf("a time without a check: %d %s", code, &said)
	}
}
