package relay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

const (
	testSecret = "a signing secret of tests"
	testToken  = "a token of tests"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTestRelay makes a relay over j; change may alter its configuration.
func newTestRelay(t testing.TB, j journal.Journal, change func(*Config)) *Relay {
	t.Helper()
	cfg := Config{
		Journal:        j,
		SigningSecrets: []api.Secret{api.NewSecret(testSecret)},
		Tokens:         []api.Secret{api.NewSecret(testToken)},
	}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// eventBody is the nth of a row of events.
func eventBody(n int) []byte {
	return fmt.Appendf(nil, `{"id":"evt_ci_%032x_awaiting_confirmation","object":"event","type":"checkout_intent.offer_retrieved",`+
		`"createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_%032x"}}`, n, n)
}

// signedRequest is a delivery of body.
func signedRequest(body []byte) *http.Request {
	req := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(body))
	req.Header.Set("x-svc-signature", sign(testSecret, body))
	return req
}

func serve(h http.Handler, req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// deliver posts the events from and to, and expects each to be acknowledged.
func deliver(t testing.TB, h http.Handler, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if w := serve(h, signedRequest(eventBody(n))); w.Code != http.StatusOK {
			t.Fatalf("event %d: %d %s", n, w.Code, w.Body)
		}
	}
}

func headOf(t testing.TB, j journal.Journal) int64 {
	t.Helper()
	head, err := j.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// recorded is a logger and what it has written.
type recorded struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorded) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recorded) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *recorded) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Writer(r), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	secret := []api.Secret{api.NewSecret(testSecret)}
	token := []api.Secret{api.NewSecret(testToken)}
	memory := newMemory(t)
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no journal", Config{SigningSecrets: secret, Tokens: token}, "needs a journal"},
		{"no secret", Config{Journal: memory, Tokens: token}, "needs a signing secret"},
		{"a short secret", Config{Journal: memory, Tokens: token, SigningSecrets: []api.Secret{secret[0], api.NewSecret("fifteen bytes..")}}, "secret 2 has 15 bytes"},
		{"no token", Config{Journal: memory, SigningSecrets: secret}, "needs a token"},
		{"a short token", Config{Journal: memory, SigningSecrets: secret, Tokens: []api.Secret{token[0], api.NewSecret("fifteen bytes..")}}, "token 2 has 15 bytes, want at least 16"},
		{"an empty token", Config{Journal: memory, SigningSecrets: secret, Tokens: []api.Secret{{}}}, "empty token"},
		{"an origin with a path", Config{Journal: memory, SigningSecrets: secret, Tokens: token, AllowedOrigins: []string{"https://shop.example/x"}}, "scheme and host"},
		{"any origin", Config{Journal: memory, SigningSecrets: secret, Tokens: token, AllowedOrigins: []string{"*"}}, "scheme and host"},
		{"a header prefix with a colon", Config{Journal: memory, SigningSecrets: secret, Tokens: token, HeaderPrefix: "x:"}, "header prefix"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "fifteen") {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestProbes(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	for _, h := range []http.Handler{r.Ingest(), r.Admin(), r.Handler()} {
		for _, path := range []string{"/livez", "/readyz"} {
			if w := serve(h, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	}
	memory.Fail(io.ErrShortWrite)
	r.readiness.checked = time.Time{}
	if w := serve(r.Handler(), httptest.NewRequest(http.MethodGet, "/readyz", nil)); w.Code != http.StatusServiceUnavailable {
		t.Errorf("readyz of a failing journal: %d", w.Code)
	}
	memory.Fail(nil)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if w := serve(r.Handler(), httptest.NewRequest(http.MethodGet, "/readyz", nil)); w.Code != http.StatusServiceUnavailable {
		t.Errorf("readyz while shutting down: %d", w.Code)
	}
	if w := serve(r.Handler(), httptest.NewRequest(http.MethodGet, "/livez", nil)); w.Code != http.StatusOK {
		t.Errorf("livez while shutting down: %d", w.Code)
	}
}

// A check writes less than a delivery: there may be room for the one and not for
// the other.
func TestARelayThatRefusesDeliveriesIsNotReadyWhateverTheCheckSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := &partlyFull{Journal: newMemory(t), full: true}
		r := newTestRelay(t, full, nil)
		expectReady := func(want int, when string) {
			t.Helper()
			if w := serve(r.Handler(), httptest.NewRequest(http.MethodGet, "/readyz", nil)); w.Code != want {
				t.Errorf("%s: %d, want %d", when, w.Code, want)
			}
		}
		expectReady(http.StatusOK, "before")
		serve(r.Handler(), signedRequest(eventBody(1)))
		expectReady(http.StatusServiceUnavailable, "after a delivery that was refused")
		full.full = false
		deliver(t, r.Handler(), 1, 1)
		expectReady(http.StatusOK, "after one that was stored")
		full.full = true
		serve(r.Handler(), signedRequest(eventBody(2)))
		<-time.After(refusalCounts)
		expectReady(http.StatusOK, "when none has come for a while")
	})
}

// partlyFull is a journal that can be written as far as its check shows.
type partlyFull struct {
	journal.Journal
	full bool
}

func (p *partlyFull) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	if p.full {
		return nil, io.ErrShortWrite
	}
	return p.Journal.Append(ctx, entries)
}
