package attention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// till is a picture of nothing but the alerts that a test raises.
type till struct {
	account.Picture

	mu      sync.Mutex
	version uint64
	alerts  []account.Alert
}

func (s *till) raise(alerts ...account.Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.alerts = alerts
}

func (s *till) Changes(uint64) account.Changes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return account.Changes{Version: s.version, Summary: account.Summary{Alerts: s.alerts}}
}

func (s *till) Wait(ctx context.Context, since uint64) error {
	for {
		s.mu.Lock()
		newer := s.version > since
		s.mu.Unlock()
		if newer {
			return nil
		}
		if err := api.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// hook is what a webhook got, and what it answers.
type hook struct {
	mu      sync.Mutex
	answers []int // for the first requests; then 200
	got     []Notice
	headers []http.Header
	hangs   bool
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var n Notice
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	status := http.StatusOK
	if len(h.answers) > 0 {
		status, h.answers = h.answers[0], h.answers[1:]
	}
	if h.got, h.headers = append(h.got, n), append(h.headers, r.Header); status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}, nil
}

func (h *hook) texts() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var texts []string
	for _, n := range h.got {
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, ", ")
}

// requests are the headers of all that came.
func (h *hook) requests() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.headers)
}

const address = "https://hooks.example/token-in-the-path"

func toHook(h *hook, kinds ...string) Destination {
	return Destination{Kinds: kinds, Webhook: api.NewSecret(address), Headers: map[string]api.Secret{"Authorization": api.NewSecret("Bearer t")}, transport: h}
}

// sending runs a sender until the test ends, and returns what it last reported.
func sending(t *testing.T, folder string, source *till, from api.Environment, ways ...Destination) (report func() string) {
	t.Helper()
	var mu sync.Mutex
	var last error
	s := NewSender(Config{Destinations: ways, Source: source, File: OpenFile(folder, "an account"), Account: "api.example", Location: time.UTC,
		Environment: func() api.Environment { return from },
		Report: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			last = err
		}})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(last)
	}
}

var (
	staging = api.Environment{Name: "staging"}
	live    = api.Environment{Name: "production", Live: true}
)

func failed(id api.ID) account.Alert {
	return account.Alert{Kind: account.AlertFailed, Intent: id, Text: "Mug " + string(id) + " failed", Since: noon}
}

func TestEachAlertGoesOutOnceFromSeveralDashboards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, source, folder := &hook{}, &till{}, t.TempDir()
		for range 3 {
			sending(t, folder, source, staging, toHook(h))
		}
		want := func(texts string) {
			t.Helper()
			time.Sleep(2 * time.Minute)
			if got := h.texts(); got != texts {
				t.Errorf("sent %q, want %q", got, texts)
			}
		}
		relay := account.Alert{Kind: account.AlertRelay, Cause: "down", Text: "the relay is down"}
		source.raise(failed("ci_1"))
		want("Mug ci_1 failed")
		source.raise(failed("ci_1"), relay)
		want("Mug ci_1 failed, the relay is down")
		sending(t, folder, source, staging, toHook(h)) // a restart
		want("Mug ci_1 failed, the relay is down")
		source.raise()
		want("Mug ci_1 failed, the relay is down")
		source.raise(relay) // anew
		want("Mug ci_1 failed, the relay is down, the relay is down")
		if got := h.requests()[0]; got.Get("Authorization") != "Bearer t" || got.Get("Content-Type") != "application/json" {
			t.Errorf("sent with %v", got)
		}
	})
}

func TestOnlyChosenKindsGoOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		some, all, source := &hook{}, &hook{}, &till{}
		sending(t, t.TempDir(), source, staging, toHook(some, account.Spent), Destination{Webhook: api.NewSecret(address + "/all"), transport: all})
		source.raise(failed("ci_1"), account.Alert{Kind: account.AlertDay, Cause: "near", Text: "near"},
			account.Alert{Kind: account.AlertDay, Cause: account.Spent, Text: "spent", Due: noon.Add(24 * time.Hour)}, account.Alert{Kind: account.AlertSending, Text: "cannot be sent"})
		time.Sleep(time.Minute)
		if some, all := some.texts(), all.texts(); some != "spent by 12:00 UTC, Nov 21" || all != "Mug ci_1 failed, near, spent by 12:00 UTC, Nov 21" {
			t.Errorf("sent %q and %q", some, all)
		}
	})
}

func TestAWebhookIsTriedAgainWhereThatHelps(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []int
		tries   int
		says    string
	}{
		{"two failures", []int{503, 0}, 3, "<nil>"},
		{"too many requests", []int{429}, 2, "<nil>"},
		{"a refusal", []int{403}, 1, "hooks.example gets no alerts: it answered 403 Forbidden (1 not sent)"},
		{"a redirect", []int{302}, 1, "hooks.example gets no alerts: it answered 302 Found (1 not sent)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, source := &hook{answers: c.answers}, &till{}
				report := sending(t, t.TempDir(), source, staging, toHook(h))
				source.raise(failed("ci_1"))
				time.Sleep(5 * time.Minute)
				if got, tries := report(), h.requests(); len(tries) != c.tries || got != c.says {
					t.Errorf("%d requests, reported %s", len(tries), got)
				}
			})
		})
	}
}

func TestWhatIsTooMuchIsDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &till{}
		report := sending(t, t.TempDir(), source, staging, toHook(&hook{hangs: true}))
		var alerts []account.Alert
		for i := range 2 * waiting {
			alerts = append(alerts, failed(api.ID(fmt.Sprint("ci_", i))))
		}
		source.raise(alerts...)
		time.Sleep(5 * time.Second)
		if got := report(); !strings.Contains(got, "too many are queued") || !strings.Contains(got, "not sent") || strings.Contains(got, "token") {
			t.Errorf("reported %s", got)
		}
		time.Sleep(5 * time.Minute)
		if got := report(); !strings.Contains(got, "deadline exceeded") || strings.Contains(got, "token") {
			t.Errorf("reported %s", got)
		}
	})
}

func TestWhatIsMutedGoesOutAfterwardsIfItStillStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, source, folder := &hook{}, &till{}, t.TempDir()
		file := OpenFile(folder, "an account")
		file.Change(func(m *Memory) {
			m.Put(Off{Key: Key{Kind: account.AlertFailed}, All: true, At: time.Now(), Until: time.Now().Add(15 * time.Minute)})
		})
		file.flush()
		sending(t, folder, source, staging, toHook(h))
		source.raise(failed("ci_1"))
		time.Sleep(14 * time.Minute)
		if got := h.texts(); got != "" {
			t.Errorf("sent %q while it is muted", got)
		}
		time.Sleep(2 * time.Minute)
		if got := h.texts(); got != "Mug ci_1 failed" {
			t.Errorf("sent %q after that", got)
		}
	})
}

func TestAProgramDoesNotRunWhereMoneyIsRealUnlessAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &till{}
		report := sending(t, t.TempDir(), source, live, Destination{Command: []string{"a-program-that-does-not-exist"}})
		source.raise(failed("ci_1"))
		time.Sleep(time.Minute)
		if got := report(); !strings.Contains(got, "set live = true") {
			t.Errorf("reported %s", got)
		}
	})
}

func TestAFileThatCannotBeReadSendsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, source, folder := &hook{}, &till{}, t.TempDir()
		damage(t, OpenFile(folder, "an account").path, `{"version":99}`)
		report := sending(t, folder, source, staging, toHook(h))
		source.raise(failed("ci_1"))
		time.Sleep(time.Minute)
		if got := report(); h.texts() != "" || !strings.Contains(got, "a newer tillwatch wrote it") {
			t.Errorf("sent %q, reported %s", h.texts(), got)
		}
	})
}
