package command

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/api/simulator/scenario"
	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/journaltest"
)

// pipes is a listener on connections in memory, which work in a bubble of time.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.accepted <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stage is a stand-in, a relay that it delivers to, and the picture of a board that
// follows the relay, all in one bubble of time.
type stage struct {
	client  *api.Client // of the one who plays
	store   *account.Store
	journal journal.Journal
}

// onStage runs a play on a stage. All has ended when it returns.
func onStage(t *testing.T, play func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		key, secret, token := api.NewSecret("key-of-the-stage"), api.NewSecret("signing-secret-of-the-stage"), api.NewSecret("token-of-the-stage")
		network := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
		events := journaltest.NewMemory("stage")
		r, err := relay.New(relay.Config{Journal: events, SigningSecrets: []api.Secret{secret}, Tokens: []api.Secret{token}})
		if err != nil {
			t.Fatal(err)
		}
		service, err := simulator.New(simulator.Config{
			Key: key, SigningSecret: secret, WebhookURL: "http://127.0.0.1/webhooks", Seed: 7, History: -1, ProductEventsPerMinute: -1,
			Transport: &http.Transport{DialContext: network.dial},
		})
		if err != nil {
			t.Fatal(err)
		}
		reach := func() *api.Client {
			c, err := api.New(api.Config{BaseURL: "http://127.0.0.1", Key: key, Transport: simulator.RoundTripper{Handler: service.Handler()}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		s := &stage{client: reach(), store: account.NewStore(account.StoreConfig{}), journal: events}
		subscriber, err := relay.NewSubscriber(relay.SubscriberConfig{URL: "http://127.0.0.1", Token: token, From: relay.FromEarliest, Dial: network.dial})
		if err != nil {
			t.Fatal(err)
		}
		watcher := account.NewWatcher(account.WatcherConfig{Store: s.store, Reader: reach(), Feed: feed{subscriber, s.store}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, run := range []part{service.Run, watcher.Run, func(ctx context.Context) error { return r.Serve(ctx, network) }} {
			running.Go(func() {
				if err := run(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			})
		}
		play(t, s)
		cancel()
		running.Wait()
	})
}

// TestTheScenariosThatShipLeaveStandInAndBoardInTheSameState plays each to its end
// and compares what the stand-in holds with the picture of a board, event by event.
func TestTheScenariosThatShipLeaveStandInAndBoardInTheSameState(t *testing.T) {
	type news struct {
		missed               string // the type of the event that the picture reports as missed
		counted, late, twice int    // missed and late ones that it counts; deliveries that the relay got again
	}
	wanted := map[string]news{
		"lost-event":       {missed: "checkout_intent.completed", counted: 1},
		"doubled-event":    {twice: 2},
		"reordered-events": {late: 1},
	}
	for _, play := range scenario.Shipped() {
		t.Run(play.Name, func(t *testing.T) {
			onStage(t, func(t *testing.T, s *stage) {
				var intents []api.ID
				if err := play.Play(t.Context(), s.client, func(d scenario.Done) {
					if d.Intent != "" && !slices.Contains(intents, d.Intent) {
						intents = append(intents, d.Intent)
					}
				}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Minute) // until parcels have arrived, and what is missed is known to be
				synctest.Wait()
				var told []string
				for _, id := range intents {
					told = append(told, s.compare(t, id)...)
				}
				events := s.store.Summary().Events
				if got := (news{strings.Join(told, " "), events.Missed, events.Late, s.doubles(t)}); got != wanted[play.Name] {
					t.Errorf("the news are %+v, want %+v", got, wanted[play.Name])
				}
			})
		})
	}
}

func TestAScenarioEndsWithTheStepThatCannotBePrinted(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		play, err := readScenario("happy-path", nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &cobra.Command{}
		c.SetContext(t.Context())
		c.SetOut(full{})
		began := time.Now()
		if err = runScenario(c, s.client, play, false); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it played on for %v", took)
		}
	})
}

// doubles is how many deliveries the relay got again.
func (s *stage) doubles(t *testing.T) (n int) {
	t.Helper()
	records, err := s.journal.Read(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		n += r.Duplicates
	}
	return n
}

// compare holds the picture of an intent against the stand-in's, and returns the
// types of the events that the picture reports as missed.
func (s *stage) compare(t *testing.T, id api.ID) (missed []string) {
	t.Helper()
	var truth struct {
		Intent    struct{ State api.IntentState }
		Shipments []struct {
			ID     api.ID
			Status api.ShipmentStatus
		}
		Events []struct {
			ID   api.ID
			Type api.EventType
		}
	}
	if err := s.client.Control(t.Context(), http.MethodGet, "/control/intents/"+string(id), nil, &truth); err != nil {
		t.Fatal(err)
	}
	in, known := s.store.Intent(id)
	if !known || in.State != truth.Intent.State || in.Certainty != account.Verified {
		t.Fatalf("the picture has %s as %+v, the stand-in as %s", id, in, truth.Intent.State)
	}
	if len(in.Shipments) != len(truth.Shipments) {
		t.Errorf("the picture has %d parcels, the stand-in %d", len(in.Shipments), len(truth.Shipments))
	}
	for _, want := range truth.Shipments {
		if sh, known := s.store.Shipment(want.ID); !known || sh.Status() != want.Status {
			t.Errorf("the picture has the parcel as %+v, the stand-in as %s", sh, want.Status)
		}
	}
	for _, e := range truth.Events {
		proven, _ := e.Type.ProvenState()
		came := slices.ContainsFunc(in.Timeline, func(m *account.Moment) bool { return m.EventID == e.ID })
		quiet := slices.ContainsFunc(in.Timeline, func(m *account.Moment) bool { return m.What == account.EventMissed && m.To == proven })
		switch {
		case came == quiet:
			t.Errorf("of %s the picture reports that it came: %v, that it was missed: %v", e.ID, came, quiet)
		case quiet:
			missed = append(missed, string(e.Type))
		}
	}
	return missed
}
