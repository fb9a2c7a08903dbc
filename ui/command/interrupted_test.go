package command

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A script goes on after exit code 0.
func TestAnInterruptedCommandSaysSoAndDoesNotCountAsDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		says       string
	}{
		{"a new intent", "create https://shop.example/mug --test-buyer", "interrupted: nothing was sent"},
		{"a lookup", "lookup https://shop.example/mug", "interrupted: GET /api/v1/products/lookup"},
		{"an event in the stand-in", "trigger product.updated", "interrupted: PUT /control/products"},
		{"an event for an endpoint", "trigger product.updated --to SERVER/hooks", "interrupted"},
		{"a read", "api GET /api/v1/shipments", "interrupted: GET /api/v1/shipments"},
		{"a write", "api POST /api/v1/shipments", "interrupted: nothing was sent"},
		{"a list of events", "events", "interrupted"},
		{"one event", "events evt_1", "interrupted"},
		{"events sent again", "events resend --since 1h --to SERVER/hooks", "interrupted"},
		{"an event sent again", "events resend evt_1 --to SERVER/hooks", "interrupted"},
		{"an intent", "intent ci_1", "interrupted"},
		{"a wait", "wait relay", "interrupted"},
		{"the doctor", "doctor", "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client leaves
				interrupt()
				<-r.Context().Done()
			}))
			defer silent.Close()
			config := configFile(t, "api_url", silent.URL, "api_key", "key-of-the-test", "relay_url", silent.URL, "relay_token", eventsToken, "signing_secret", oldSecret, "state_dir", t.TempDir())
			out, words := &utterances{}, &utterances{}
			code := run(ctx, append(strings.Fields(strings.ReplaceAll(c.args, "SERVER", silent.URL)), "--config", config), nil, out, words)
			if said := words.String(); code != exitFailed || !strings.Contains(said, c.says) || strings.Contains(said, "context canceled") || strings.Contains(said, "within") {
				t.Errorf("exit code %d: %s%s", code, out, said)
			}
		})
	}
}

// unwritten is a standard input to which nobody writes. Whoever reads it is interrupted.
type unwritten struct {
	interrupt func()
	until     <-chan struct{}
}

func (u unwritten) Read([]byte) (int, error) {
	u.interrupt()
	<-u.until
	return 0, io.EOF
}

func TestAnInterruptEndsACommandThatWaitsForItsInput(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"sign", "verify", "verify --body - -H x-svc-signature:v0=1", "create --body -", "simulate --from -", "trigger --body - --to http://127.0.0.1:1/hooks", "status --watch-ids -",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "signing_secret", oldSecret, "state_dir", t.TempDir())
			ctx, interrupt := context.WithCancel(t.Context())
			mustBeInterrupted(ctx, t, unwritten{interrupt, t.Context().Done()}, append(strings.Fields(args), "--config", config)...)
		})
	}
}

// mustBeInterrupted holds that a command that waits for its input ends with the context.
func mustBeInterrupted(ctx context.Context, t *testing.T, stdin io.Reader, args ...string) {
	t.Helper()
	words := &utterances{}
	if code := run(ctx, args, stdin, io.Discard, words); code != exitFailed || !strings.Contains(words.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, words)
	}
}
