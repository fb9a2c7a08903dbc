package confirm_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/simulator"
)

var (
	stormConfirms = flag.Int("storm", 1000, "confirms through a service that drops, delays, doubles and fails")
	stormSeed     = flag.Uint64("storm-seed", 1, "seed of the storm")
)

// wire counts the confirms that go out.
type wire struct {
	simulator.RoundTripper
	mu      sync.Mutex
	sent    map[string]int // by path
	refused map[string]int // of them, by the per-second bucket
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return w.RoundTripper.RoundTrip(r)
	}
	w.count(w.sent, r)
	response, err := w.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		w.count(w.refused, r)
	}
	return response, err
}

func (w *wire) count(of map[string]int, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of[r.URL.Path]++
}

// storm is the service and what was claimed of each intent.
type storm struct {
	service *simulator.Simulator
	client  *api.Client
	wire    *wire
	dir     string
	mu      sync.Mutex
	claims  map[api.ID][]confirm.Outcome
}

func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	key := api.NewSecret(keyOfAll)
	service, err := simulator.New(simulator.Config{
		Key: key, Seed: seed, History: -1, AutoConfirm: -1, FailureShare: -1,
		Timings: simulator.Timings{Placing: 30 * time.Second},
		Limits:  simulator.Limits{PerDay: -1, Agents: -1, Mutations: 5, Reads: 40},
		// The contract shows no such keys: the service may know them or not.
		IgnoreIdempotencyKeys: seed%2 == 1,

		Faults: simulator.Faults{Errors: 0.15, Drop: 0.15, Twice: 0.15, Late: 0.2, LateBy: 150 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{RoundTripper: simulator.RoundTripper{Handler: service.Handler()}, sent: map[string]int{}, refused: map[string]int{}}
	client, err := api.New(api.Config{BaseURL: "https://service.example", Key: key, Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	return &storm{service: service, client: client, wire: w, dir: t.TempDir(), claims: map[api.ID][]confirm.Outcome{}}
}

// guard opens one of a machine: those of one machine share their audit log.
func (s *storm) guard(t *testing.T, machine int) *confirm.Guard {
	t.Helper()
	g, err := confirm.New(confirm.Config{
		Service: s.client, Environments: s.client.Environments(),
		AuditFile: filepath.Join(s.dir, fmt.Sprint("machine-", machine), "confirms.jsonl"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (s *storm) create(t *testing.T) api.Intent {
	t.Helper()
	id := made(t, s.service, simulator.Order{
		ProductURL: "https://spice-lab.example/products/chili-crisp", State: api.AwaitingConfirmation,
	})
	for {
		if in, err := s.client.Intent(t.Context(), api.ID(id)); err == nil {
			return in
		}
	}
}

// confirm says yes through a guard, and with some luck leaves before the end.
func (s *storm) confirm(ctx context.Context, g *confirm.Guard, p confirm.Proposal, leave time.Duration) {
	if leave > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, leave)
		defer cancel()
	}
	out := g.Confirm(ctx, p, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims[p.ID] = append(s.claims[p.ID], out)
}

// TestAThousandConfirmsThroughAStorm measures what guards claim by what the
// service did. The clock is a made-up one, so that it takes seconds.
func TestAThousandConfirmsThroughAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, *stormSeed)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		ran := make(chan error)
		go func() { ran <- s.service.Run(ctx) }()
		dice := rand.New(rand.NewPCG(*stormSeed, 2))
		here, alsoHere, elsewhere := s.guard(t, 1), s.guard(t, 1), s.guard(t, 2)

		var confirming sync.WaitGroup
		for done := 0; done < *stormConfirms; {
			in := s.create(t)
			p, err := confirm.Propose(&in, s.client.Environment(), api.ConfirmWindow)
			if err != nil {
				t.Fatal(err)
			}
			guards := [][]*confirm.Guard{{here}, {here}, {here, alsoHere}, {here, elsewhere}, {alsoHere, here, elsewhere}}[dice.IntN(5)]
			for _, g := range guards {
				var leave time.Duration
				if dice.IntN(6) == 0 {
					leave = time.Duration(dice.IntN(20_000)) * time.Millisecond
				}
				confirming.Go(func() { s.confirm(ctx, g, p, leave) })
				done++
			}
			time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
		}
		confirming.Wait()
		time.Sleep(5 * time.Minute) // what was held back has taken effect
		s.judge(t)
		for _, g := range []*confirm.Guard{here, alsoHere, elsewhere} {
			g.Close()
		}
		s.settleLater(t)
		end()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// judge compares every claim with the service's own record.
func (s *storm) judge(t *testing.T) {
	verdicts := map[confirm.Verdict]int{}
	for id, claims := range s.claims {
		orders := ordersOf(t, s.service, string(id))
		if orders > 1 {
			t.Errorf("%s: %d orders", id, orders)
		}
		unknown, senders := false, 0
		for _, out := range claims {
			verdicts[out.Verdict]++
			if out.Attempt != "" {
				senders++
			}
			switch {
			case out.Proves() == confirm.Placed && orders != 1:
				t.Errorf("%s: claimed to be placed (%s), and there is no order", id, out)
			case out.Verdict == confirm.Unknown:
				unknown = true
			}
		}
		for _, out := range claims {
			if out.Attempt != "" && senders == 1 && orders == 1 && out.Proves() == confirm.NotPlaced {
				t.Errorf("%s: it alone was sent and is claimed not to be placed (%s), and there is an order", id, out)
			}
		}
		if orders == 1 && !unknown && !claimed(claims) {
			t.Errorf("%s: an order was placed, and nobody says so: %v", id, claims)
		}
		path := "/api/v1/checkout-intents/" + string(id) + "/confirm"
		if sent := s.wire.sent[path] - s.wire.refused[path]; sent > 2 {
			t.Errorf("%s: sent %d times by two machines", id, sent)
		}
	}
	for _, needed := range []confirm.Verdict{confirm.Accepted, confirm.Overtaken, confirm.Unknown, confirm.NotSent, confirm.Already} {
		if *stormConfirms >= 1000 && verdicts[needed] == 0 {
			t.Errorf("the storm brought no %q: %v", needed, verdicts)
		}
	}
	t.Logf("%d intents: %v", len(s.claims), verdicts)
}

// claimed reports whether somebody says that an order was placed, or has read of
// one that was.
func claimed(claims []confirm.Outcome) bool {
	for _, out := range claims {
		if out.Proves() == confirm.Placed {
			return true
		}
	}
	return false
}

// settleLater starts again on both machines: what the logs leave open is read,
// and every verdict in them is true.
func (s *storm) settleLater(t *testing.T) {
	for machine := 1; machine <= 2; machine++ {
		g := s.guard(t, machine)
		settling, stop := context.WithTimeout(t.Context(), 40*time.Minute)
		g.Settle(settling)
		stop()
		g.Close()
		file := filepath.Join(s.dir, fmt.Sprint("machine-", machine), "confirms.jsonl")
		open := map[string]api.ID{}
		for _, line := range auditLines(t, file) {
			if line.Stage == confirm.Sending {
				open[line.Attempt] = line.Intent
				continue
			}
			if line.Verdict != confirm.Unknown {
				delete(open, line.Attempt)
			}
			placed := line.Verdict == confirm.Accepted || line.Verdict == confirm.Overtaken
			if orders := ordersOf(t, s.service, string(line.Intent)); placed && orders != 1 {
				t.Errorf("the log says %s of %s, and there are %d orders", line.Verdict, line.Intent, orders)
			}
		}
		for _, id := range open {
			if ordersOf(t, s.service, string(id)) != 0 {
				t.Errorf("%s was placed, and the log leaves it open", id)
			}
		}
	}
}
