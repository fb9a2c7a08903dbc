package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/charmbracelet/x/exp/golden" // brings the flag -update

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
	"tillwatch/ui/recording"
)

// day is a recorded working day of a small shop: an hour in which the relay is
// lost, and all states and failures that the simulator knows. -update records it
// anew, in simulated time.
const day = "testdata/day.tillwatch"

// service answers requests within the bubble of time.
type service struct{ handler http.Handler }

func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(60 * time.Millisecond)
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// courier stands in for a relay: webhooks in, a feed out. It can be cut.
type courier struct {
	mu      sync.Mutex
	events  []account.Delivery
	cut     bool
	changed chan struct{}
}

func (c *courier) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	event, err := api.DecodeEvent(body)
	if err != nil {
		return nil, err
	}
	answer := []byte("{}")
	c.mu.Lock()
	defer c.mu.Unlock()
	if event.Type == api.VerificationChallenge {
		answer, _ = json.Marshal(map[string]api.ID{"challenge": event.Source.ID})
	} else {
		c.events = append(c.events, account.Delivery{Seq: int64(len(c.events) + 1), Event: event, Received: time.Now(),
			Origin: "webhook"})
		c.stir()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(answer)), Request: r}, nil
}

func (c *courier) stir() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *courier) setCut(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	c.stir()
}

func (c *courier) Follow(ctx context.Context, sink account.Sink) error {
	for cursor, state := 0, account.FeedConnecting; ; {
		c.mu.Lock()
		batch, cut, changed := c.events[cursor:], c.cut, c.changed
		c.mu.Unlock()
		next := account.FeedLive
		if cut {
			next = account.FeedLost
		} else if len(batch) > 0 {
			sink.Deliver(batch, time.Now())
			cursor += len(batch)
		}
		if next != state {
			state = next
			sink.FeedChanged(account.FeedStatus{State: next, Since: time.Now(), Epoch: "day", Head: int64(cursor),
				Cursor: int64(cursor)})
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// recordDay lets a day pass in the simulator and records it.
func recordDay(t *testing.T, path string) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(8 * time.Hour) // the shop opens at eight
		relay := &courier{changed: make(chan struct{})}
		key := api.NewSecret("key-of-the-day")
		shop, err := simulator.New(simulator.Config{
			Key: key, SigningSecret: api.NewSecret("signing-secret-of-the-day"), WebhookURL: "https://relay.example/webhooks", Transport: relay,
			Seed: 6, IntentsPerMinute: 0.2, History: 12, ProductEventsPerMinute: 0.02, Lists: true,
			Timings: simulator.Timings{Offer: 20 * time.Second, Placing: 90 * time.Second,
				ShipmentStep: 40 * time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		pacer := quota.NewPacer(quota.PacerConfig{})
		store := account.NewStore(account.StoreConfig{Quota: pacer.Buckets})
		client, err := api.New(api.Config{BaseURL: "https://service.example", Key: key,
			Transport: service{shop.Handler()}, Pacer: pacer, Observe: store.RecordExchange})
		if err != nil {
			t.Fatal(err)
		}
		recorder, err := recording.Create(path, form.Header{Environment: "simulator", Account: "shop.example",
			Width: 120, Height: 36})
		if err != nil {
			t.Fatal(err)
		}
		watcher := account.NewWatcher(account.WatcherConfig{Store: store, Reader: client, Feed: relay,
			Poll: 2 * time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, run := range []func(context.Context) error{
			shop.Run, watcher.Run, func(ctx context.Context) error { return recorder.Run(ctx, store) },
		} {
			running.Go(func() {
				if err := run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(3 * time.Hour)
		relay.setCut(true)
		time.Sleep(10 * time.Minute)
		relay.setCut(false)
		time.Sleep(5 * time.Hour)
		cancel()
		running.Wait()
	})
}

func TestTheDayPlaysFromItsBeginningToItsEnd(t *testing.T) {
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		fresh := filepath.Join(t.TempDir(), "day")
		recordDay(t, fresh)
		content, err := os.ReadFile(fresh)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(day, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := recording.OpenPlayer(day, recording.PlayerConfig{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	if flaws := p.Flaws(); flaws != "" {
		t.Error(flaws)
	}
	for p.Advance() {
	}
	end := p.Changes(0)
	if pos := p.Position(); pos.Length < 8*time.Hour || pos.Changes < 500 {
		t.Errorf("it is %v long with %d changes", pos.Length, pos.Changes)
	}
	if end.Summary.Intents[api.Completed] < 20 || end.Summary.Intents[api.Failed] < 5 || len(end.Shipments) < 10 ||
		len(end.Events) < 100 {
		t.Errorf("it ends with %v, %d shipments and %d events", end.Summary.Intents, len(end.Shipments),
			len(end.Events))
	}
}

// BenchmarkReplay reads the day from one change to the next: what the file costs
// beside the screen.
func BenchmarkReplay(b *testing.B) {
	pictures := 0
	b.ReportAllocs()
	for b.Loop() {
		p, err := recording.OpenPlayer(day, recording.PlayerConfig{Paused: true})
		if err != nil {
			b.Fatal(err)
		}
		since := p.Changes(0).Version
		for p.Advance() {
			since = p.Changes(since).Version
			pictures++
		}
	}
	b.ReportMetric(float64(pictures)/b.Elapsed().Seconds(), "pictures/s")
}
