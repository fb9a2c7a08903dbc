package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api/simulator"
	"tillwatch/relay"
)

const (
	oldSecret = "the-old-signing-secret"
	newSecret = "the-new-signing-secret"
)

// relayed is a relay that runs as a command.
type relayed struct {
	ready
	data string
	said *utterances
	stop func()
}

// utterances are what a command says, to read while it runs.
type utterances struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *utterances) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *utterances) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// startRelayCommand runs tillwatch relay until the test ends or stop is called.
func startRelayCommand(t *testing.T, data string, args ...string) *relayed {
	t.Helper()
	out, in := io.Pipe()
	r := &relayed{data: data, said: &utterances{}}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	args = append([]string{"relay", "--json", "--listen", "127.0.0.1:0", "--data", data}, args...)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), in, r.said)
		_ = in.Close()
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-code; code != exitDone {
			t.Errorf("the relay ended with %d: %s", code, r.said)
		}
	})
	t.Cleanup(r.stop)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the relay is not ready: %s", r.said)
	}
	if err := json.Unmarshal(lines.Bytes(), &r.ready); err != nil {
		t.Fatal(err)
	}
	return r
}

func signed(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

func eventOf(n int, kind string) string {
	source, _, _ := strings.Cut(kind, ".")
	return fmt.Sprintf(`{"id":"evt_%d","object":"event","type":"%s","createdAt":"2026-06-18T14:02:%02d.000Z",`+
		`"source":{"type":"%s","id":"%s_%d"},"data":{"buyer":{"email":"hidden@example.com"}}}`, n, kind, n%60, source, source, n)
}

// post delivers body and returns the status; where that asks to try again, as when the
// disk is busy, the next one.
func (r *relayed) post(t *testing.T, client *http.Client, secret, body string) int {
	t.Helper()
	for late := time.After(patience); ; {
		status := r.postOnce(t, client, secret, body)
		if status != http.StatusServiceUnavailable {
			return status
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-late:
			return status
		}
	}
}

// postOnce delivers body and returns the status.
func (r *relayed) postOnce(t *testing.T, client *http.Client, secret, body string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.Listen+relay.WebhookPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-svc-signature", signed(secret, body))
	return statusOf(t, client, request)
}

// get asks for path with a token and returns the status.
func (r *relayed) get(t *testing.T, path, token string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, r.Listen+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return statusOf(t, http.DefaultClient, request)
}

// getJSON asks for path with a token and decodes the answer.
func (r *relayed) getJSON(t *testing.T, path, token string, into any) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, r.Listen+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, answer.StatusCode, err)
	}
}

func statusOf(t *testing.T, client *http.Client, request *http.Request) int {
	t.Helper()
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// eventually asks until what is asked for is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.After(patience)
	for !so() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSigningSecretsRotateWhileTheRelayRuns(t *testing.T) {
	dir := isolate(t)
	secrets := filepath.Join(dir, "secrets")
	writeFile(t, secrets, oldSecret+"\n")
	t.Setenv("TILLWATCH_SIGNING_SECRET_FILE", secrets)
	r := startRelayService(t, filepath.Join(dir, "relay"))
	post := func(n int, secret string) int {
		return r.post(t, http.DefaultClient, secret, eventOf(n, "shipment.created"))
	}
	if old, other := post(1, oldSecret), post(1, newSecret); old != 200 || other != 401 {
		t.Fatalf("before: the old one %d, the new one %d", old, other)
	}
	writeFile(t, secrets, oldSecret+"\r\n\n"+newSecret+"\n")
	r.hangUp(t)
	eventually(t, "both count", func() bool { return post(2, newSecret) == 200 })
	if old := post(2, oldSecret); old != 200 {
		t.Errorf("with both: the old one %d", old)
	}
	writeFile(t, secrets, newSecret)
	r.hangUp(t)
	eventually(t, "the removed one fails", func() bool { return post(3, oldSecret) == 401 })
	if status := post(3, newSecret); status != 200 {
		t.Errorf("after: the new one %d", status)
	}
	writeFile(t, secrets, "short")
	r.hangUp(t)
	eventually(t, "the failure is told", func() bool { return strings.Contains(r.said.String(), "fewer than 16") })
	if status := post(4, newSecret); status != 200 {
		t.Errorf("after a failed reload: %d", status)
	}
	if said := r.said.String(); strings.Contains(said, oldSecret) || strings.Contains(said, newSecret) {
		t.Errorf("a secret is in the log: %s", said)
	}
}

func TestARelayAnswersPagesOfItsOrigins(t *testing.T) {
	dir := isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	t.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
	data := filepath.Join(dir, "relay")
	r := startRelayCommand(t, data, "--retention", "30d", "--allow-origin", "https://shop.example")
	request, err := http.NewRequest(http.MethodOptions, r.Listen+relay.WebhookPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "https://shop.example")
	if status := statusOf(t, http.DefaultClient, request); status != 204 {
		t.Errorf("a page of an allowed origin asks: %d", status)
	}
}

func TestARelayFetchesWhatNoDeliveryBrought(t *testing.T) {
	isolate(t)
	for _, test := range []struct {
		name  string
		lists bool
		want  string
	}{
		{"from a service that lists its events", true, "backfill"},
		{"from one that does not", false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, func() simulator.Config {
				c := quiet()
				c.Lists, c.Faults.Lose = test.lists, 1
				return c
			}())
			t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
			t.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
			t.Setenv("TILLWATCH_API_URL", w.settings.APIURL)
			t.Setenv("TILLWATCH_API_KEY", w.settings.APIKey.Reveal())
			made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
			eventually(t, "the offer has been retrieved", func() bool {
				return control(t, w.service, http.MethodGet, "state", nil).Get("intents.awaiting_confirmation").Int() == 1
			})
			r := startRelayCommand(t, t.TempDir(), "-v")
			t.Setenv("TILLWATCH_RELAY_URL", r.Listen)
			if test.want == "" {
				eventually(t, "the list was tried", func() bool { return strings.Contains(r.said.String(), "has no list of events") })
				if said := r.said.String(); strings.Contains(said, "WARN") || strings.Contains(said, "ERRO") {
					t.Errorf("the log is %s", said)
				}
			} else {
				eventually(t, "the event was added", func() bool { return strings.Contains(r.said.String(), "added events that were never delivered") })
			}
			code, out, said := events(t, "--json")
			if code != exitDone || strings.Contains(said, w.settings.APIKey.Reveal()) {
				t.Fatalf("%d %s", code, said)
			}
			all := eventLines(t, out)
			if test.want == "" && len(all) > 0 || test.want != "" && (len(all) != 1 || all[0].Event.Origin != test.want || all[0].Event.Type != "checkout_intent.offer_retrieved") {
				t.Errorf("events are %s", out)
			}
		})
	}
}
