package account_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
)

const (
	ownKey = "own-key-of-the-simulation"
)

// direct answers requests by a handler, within the same bubble of time, after a
// latency. It notes when each read went out that no person waited for, and how
// all were answered.
type direct struct {
	handler http.Handler
	latency time.Duration

	mu   sync.Mutex
	sent []time.Time
	told map[int]int // answers by status
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && quota.PriorityOf(r.Context()) > quota.Person {
		d.mu.Lock()
		d.sent = append(d.sent, time.Now())
		d.mu.Unlock()
	}
	select {
	case <-time.After(d.latency):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	answer := httptest.NewRecorder()
	d.handler.ServeHTTP(answer, r)
	d.mu.Lock()
	d.told[answer.Code]++
	d.mu.Unlock()
	return answer.Result(), nil
}

// answers is how often each status was answered.
func (d *direct) answers() map[int]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.told)
}

// reads is how many reads were sent, and most the largest number of them within a
// second.
func (d *direct) reads() (all, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := 0
	for i, at := range d.sent {
		for at.Sub(d.sent[from]) >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return len(d.sent), most
}

// courier stands in for a relay: it takes webhooks, keeps each event once and in
// order, and is the feed of a watcher. Either side of it can fail.
type courier struct {
	mu      sync.Mutex
	journal []account.Delivery
	known   map[api.ID]int
	deaf    bool // webhooks find nobody
	cut     bool // the stream is down
	changed chan struct{}
}

func newCourier() *courier { return &courier{known: map[api.ID]int{}, changed: make(chan struct{})} }

var errRefused = errors.New("connection refused")

// RoundTrip takes a webhook.
func (c *courier) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	event, err := api.DecodeEvent(body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf {
		return nil, errRefused
	}
	answer := []byte("{}")
	switch at, known := c.known[event.ID]; {
	case event.Type == api.VerificationChallenge:
		answer, _ = json.Marshal(map[string]api.ID{"challenge": event.Source.ID})
	case known:
		c.journal[at].Duplicates++
	default:
		c.known[event.ID] = len(c.journal)
		c.journal = append(c.journal, account.Delivery{Seq: int64(len(c.journal) + 1), Event: event, Received: time.Now(), Origin: "webhook"})
		c.stir()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(answer)), Request: r}, nil
}

func (c *courier) stir() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *courier) set(deaf, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf, c.cut = deaf, cut
	c.stir()
}

// Follow is that of an [account.Feed].
func (c *courier) Follow(ctx context.Context, sink account.Sink) error {
	state, cursor := account.FeedConnecting, 0
	enter := func(next account.FeedState) {
		if state != next {
			state = next
			sink.FeedChanged(account.FeedStatus{State: next, Since: time.Now(), Epoch: "one", Cursor: int64(cursor)})
		}
	}
	for {
		c.mu.Lock()
		batch, cut, changed := slices.Clone(c.journal[cursor:]), c.cut, c.changed
		c.mu.Unlock()
		switch {
		case cut:
			enter(account.FeedLost)
		default:
			if state != account.FeedLive {
				enter(account.FeedReplaying)
			}
			cursor += len(batch)
			if len(batch) > 0 {
				sink.Deliver(batch, time.Now())
			}
			enter(account.FeedLive)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stage is an account with its service, its relay and this dashboard's watcher.
type stage struct {
	service *simulator.Simulator
	courier *courier
	own     *direct
	client  *api.Client
	store   *account.Store
	watcher *account.Watcher
	reads   int // the limit a second
}

// onStage runs a play in a bubble of time. Everything has ended when it returns.
func onStage(t *testing.T, cfg simulator.Config, play func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{courier: newCourier(), reads: cfg.Limits.Reads}
		cfg.Key = api.NewSecret(ownKey)
		cfg.SigningSecret, cfg.WebhookURL = api.NewSecret("signing-secret-of-the-simulation"), "https://relay.example/webhooks"
		cfg.Transport = s.courier
		cfg.History = cmp.Or(cfg.History, -1)
		var err error
		if s.service, err = simulator.New(cfg); err != nil {
			t.Fatal(err)
		}
		s.own = &direct{handler: s.service.Handler(), latency: 80 * time.Millisecond, told: map[int]int{}}
		pacer := quota.NewPacer(quota.PacerConfig{})
		s.store = account.NewStore(account.StoreConfig{AgentsLimit: 1 << 20, DayLimit: 1 << 20, Quota: pacer.Buckets})
		s.client, err = api.New(api.Config{
			BaseURL: "https://service.example", Key: api.NewSecret(ownKey), Transport: s.own, Pacer: pacer, Observe: s.store.RecordExchange,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.watcher = account.NewWatcher(account.WatcherConfig{Store: s.store, Reader: s.client, Feed: s.courier})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.service.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		running.Go(func() {
			if err := s.watcher.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		play(t, s)
		cancel()
		running.Wait()
	})
}

// asAnother calls the service past all buckets of this client.
func (s *stage) asAnother(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader([]byte(body)))
	r.Header.Set("Authorization", "Bearer "+ownKey)
	answer := httptest.NewRecorder()
	s.service.Handler().ServeHTTP(answer, r)
	return answer.Code, answer.Body.Bytes()
}

// made makes an intent, past all limits, and returns its id.
func (s *stage) made(t *testing.T, o simulator.Order) string {
	t.Helper()
	order, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	code, said := s.asAnother(t, http.MethodPost, "/control/intents", string(order))
	if code != http.StatusCreated {
		t.Fatalf("making an intent: %d %s", code, said)
	}
	return gjson.GetBytes(said, "id").String()
}

// truth reads past the limits and the errors of the play. It reports false for
// what is not there.
func (s *stage) truth(t *testing.T, path string) (there bool, body []byte) {
	t.Helper()
	for range 50 {
		if code, said := s.asAnother(t, http.MethodPut, "/control/buckets/reads", fmt.Sprintf(`{"remaining":%d}`, s.reads)); code != http.StatusOK {
			t.Fatalf("refilling the bucket: %d %s", code, said)
		}
		switch code, body := s.asAnother(t, http.MethodGet, path, ""); code {
		case http.StatusOK:
			return true, body
		case http.StatusNotFound:
			return false, nil
		}
	}
	t.Fatalf("%s is never answered", path)
	return false, nil
}

// order is an intent of the play.
type order struct {
	id        string
	confirmed time.Duration // after its offer; 0: never
	here      bool          // by this dashboard
	sent      time.Time     // when this dashboard sent the confirm; zero when it did not
}

// finding is what a play has shown.
type finding struct {
	unknown, wrong int
	staleness      []time.Duration // of the states that were shown, after they were entered
	unseen         int             // states that were over before they were shown
}

// compare reads the truth of every order and of every event there was.
func (s *stage) compare(t *testing.T, orders []order) finding {
	t.Helper()
	var f finding
	for _, o := range orders {
		_, body := s.truth(t, "/api/v1/checkout-intents/"+o.id)
		truth, err := api.DecodeIntent(body)
		if err != nil {
			t.Fatalf("the truth of %s: %v", o.id, err)
		}
		in, known := s.store.Intent(truth.ID)
		if !known {
			f.unknown++ // every event of it was lost, and nothing else named it
			continue
		}
		if in.State != truth.State || in.Certainty != account.Verified {
			f.wrong++
			t.Errorf("%s is shown as %q (certainty %d), the truth is %q", o.id, in.State, in.Certainty, truth.State)
		}
		s.measure(t, o, &truth, in, &f)
	}
	slices.Sort(f.staleness)
	return f
}

func (s *stage) measure(t *testing.T, o order, truth *api.Intent, in *account.IntentDetail, f *finding) {
	shown := func(state api.IntentState, entered time.Time) {
		i := slices.IndexFunc(in.Timeline, func(m *account.Moment) bool { return m.State() == state })
		if i < 0 {
			f.unseen++
			return
		}
		f.staleness = append(f.staleness, max(0, in.Timeline[i].Learnt.Sub(entered)))
	}
	ended := false
	for _, state := range []api.IntentState{api.AwaitingConfirmation, api.Completed, api.Failed} {
		there, body := s.truth(t, fmt.Sprintf("/api/v1/events/evt_%s_%s", o.id, state))
		if !there {
			continue
		}
		e, err := api.DecodeEvent(body)
		if err != nil {
			t.Fatal(err)
		}
		shown(state, e.CreatedAt)
		ended = ended || state.Terminal()
		if state == api.AwaitingConfirmation && o.confirmed > 0 && truth.Failure == nil {
			shown(api.PlacingOrder, e.CreatedAt.Add(o.confirmed))
		}
	}
	if !ended && truth.State == api.Failed {
		shown(api.Failed, truth.CreatedAt.Add(api.ConfirmWindow))
	}
}

func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
