package account_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// longSimulations, when set in the environment, runs the plays at full length: 50
// intents in a day and 5,000 in an hour. Else much less, as busy.
const longSimulations = "TILLWATCH_LONG_SIMULATIONS"

// play is a time in the life of an account.
type play struct {
	name    string
	intents int
	span    time.Duration
	reads   int     // of the account, a second
	here    float64 // share of the confirms that are this dashboard's
	harsh   bool
	most    float64 // reads for each state change
}

func plays() []play {
	few, day, many, hour := 25, 2*time.Hour, 250, 3*time.Minute
	if os.Getenv(longSimulations) != "" {
		few, day, many, hour = 50, 24*time.Hour, 5000, time.Hour
	}
	return []play{
		{"calm day, confirmed here", few, day, 10, 1, false, 1.3},
		{"calm day, confirmed by others", few, day, 10, 0, false, 1.3},
		{"hard day", few, day, 10, 0.5, true, 2.5},
		{"calm busy hour", many, hour, 60, 1, false, 1.3},
		{"hard busy hour", many, hour, 60, 0.5, true, 2},
	}
}

func TestPictureOfASimulatedServiceEndsRightAndIsFrugal(t *testing.T) {
	for i, p := range plays() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.run(t, uint64(i+1))
		})
	}
}

func (p play) run(t *testing.T, seed uint64) {
	cfg := simulator.Config{Seed: seed, ProductEventsPerMinute: -1, Limits: simulator.Limits{Reads: p.reads, Mutations: p.reads, PerDay: -1, Agents: -1}}
	if p.harsh {
		cfg.Faults = simulator.Faults{Duplicate: 0.05, Reorder: 0.10, Lose: 0.01, Errors: 0.02}
	}
	onStage(t, cfg, func(t *testing.T, s *stage) {
		var around sync.WaitGroup
		if p.harsh {
			around.Go(func() { s.trouble(t, p.span) })
		}
		orders := s.take(t, p, rand.New(rand.NewPCG(seed, 7)))
		around.Wait()
		time.Sleep(90 * time.Minute) // of the bubble's time, until all has ended
		sum := s.store.Summary()
		reads, most := s.own.reads()
		f := s.compare(t, orders)
		if allowed := 1 + len(orders)/100; f.unknown > allowed || !p.harsh && f.unknown > 0 {
			t.Errorf("%d intents never became known", f.unknown)
		}
		if per := sum.Reads.PerStateChange(); per > p.most {
			t.Errorf("%.2f reads for a state change, want at most %.2f", per, p.most)
		}
		if allowed := p.reads * 3 / 10; most > allowed {
			t.Errorf("%d reads within a second, its share is %d", most, allowed)
		}
		t.Logf("%.2f reads for a state change; stale p50 %v p99 %v; %d states over before they were shown; %d unknown; at most %d reads a second; %d reads, answers %v; %+v; %+v",
			sum.Reads.PerStateChange(), at(f.staleness, 0.50), at(f.staleness, 0.99), f.unseen, f.unknown, most, reads, s.own.answers(), sum.Reads, sum.Events)
	})
}

// take lets orders come in over the span of the play.
func (s *stage) take(t *testing.T, p play, random *rand.Rand) []order {
	orders := make([]order, p.intents)
	var confirms sync.WaitGroup
	for i := range orders {
		time.Sleep(time.Duration(random.ExpFloat64() * float64(p.span) / float64(p.intents)))
		o := &orders[i]
		var fate simulator.Fate
		switch random.IntN(10) {
		case 0: // nobody confirms it
		case 1:
			fate.Failure = "product_out_of_stock"
			fate.WhilePlacing = random.IntN(2) == 0
			fallthrough
		default:
			o.confirmed = 5*time.Second + time.Duration(random.Int64N(int64(10*time.Minute)))
			o.here = random.Float64() < p.here
		}
		if !o.here {
			fate.ConfirmAfter = o.confirmed
		}
		o.id = s.made(t, simulator.Order{Fate: fate})
		if o.here {
			confirms.Go(func() { s.confirm(t, o) })
		}
	}
	confirms.Wait()
	return orders
}

// confirm is a person at this dashboard, who confirms what is shown to await it.
func (s *stage) confirm(t *testing.T, o *order) {
	id, began := api.ScrubID(o.id), time.Now()
	for in, known := s.store.Intent(id); !known || in.State != api.AwaitingConfirmation; in, known = s.store.Intent(id) {
		if known && in.State.Terminal() || time.Since(began) > time.Hour {
			return
		}
		time.Sleep(time.Second)
	}
	time.Sleep(o.confirmed)
	sent := time.Now()
	in, err := s.client.ConfirmIntent(t.Context(), id, api.ConfirmIntent{})
	if err != nil {
		s.watcher.Refresh(id) // unknown, or no longer to be confirmed
		return
	}
	o.sent = sent
	s.store.ApplyRead(in, sent, account.ByConfirm)
}

// trouble is what befalls the account: refusals, a stream that breaks, a relay
// that is gone for almost as long as the service tries. Of an intent whose only
// event was given up nobody could ever know.
func (s *stage) trouble(t *testing.T, span time.Duration) {
	step := span / 12
	for i := range 12 {
		time.Sleep(step / 2)
		if code, body := s.asAnother(t, http.MethodPost, "/control/faults", fmt.Sprintf(`{"count":%d,"status":429}`, 1+i%3)); code != http.StatusOK {
			t.Errorf("injecting refusals: %d %s", code, body)
		}
		switch i % 4 {
		case 1:
			s.courier.set(false, true)
		case 3:
			s.courier.set(true, true)
		}
		time.Sleep(min(step/2, 90*time.Second))
		s.courier.set(false, false)
		time.Sleep(step/2 - min(step/2, 90*time.Second))
	}
}

func TestAnotherClientAtSeventyPercentIsNeverRefused(t *testing.T) {
	cfg := simulator.Config{Seed: 3, ProductEventsPerMinute: -1, Limits: simulator.Limits{Reads: 10, PerDay: -1, Agents: -1}}
	onStage(t, cfg, func(t *testing.T, s *stage) {
		refused, others := 0, 0
		var busy sync.WaitGroup
		const span = 4 * time.Minute
		busy.Go(func() {
			ticker := time.NewTicker(143 * time.Millisecond) // seven in any second
			defer ticker.Stop()
			for end := time.Now().Add(span); time.Now().Before(end); <-ticker.C {
				others++
				if code, _ := s.asAnother(t, http.MethodGet, "/api/v1/shipments?limit=1", ""); code == http.StatusTooManyRequests {
					refused++
				}
			}
		})
		orders := s.take(t, play{intents: 60, span: span, here: 0.5}, rand.New(rand.NewPCG(3, 7)))
		busy.Wait()
		own, _ := s.own.reads()
		answers := s.own.answers()
		if refused > 0 || answers[http.StatusTooManyRequests] > 0 {
			t.Errorf("%d of the other's %d requests were refused, and %d of %d own", refused, others, answers[http.StatusTooManyRequests], own)
		}
		if own < 150 {
			t.Errorf("only %d own requests: nothing was shared", own)
		}
		time.Sleep(time.Hour)
		f := s.compare(t, orders)
		t.Logf("%d requests of the other client, %d own; stale p50 %v p99 %v", others, own, at(f.staleness, 0.5), at(f.staleness, 0.99))
	})
}

func TestPagesOfAListAreFollowedWithinTheShare(t *testing.T) {
	cfg := simulator.Config{Seed: 5, ProductEventsPerMinute: -1, History: 430, Lists: true, Limits: simulator.Limits{Reads: 10, PerDay: -1, Agents: -1}}
	onStage(t, cfg, func(t *testing.T, s *stage) {
		time.Sleep(20 * time.Second)
		all, most := s.own.reads()
		if most > 3 {
			t.Errorf("%d reads within a second, its share is 3", most)
		}
		known := 0
		for _, n := range s.store.Summary().Intents {
			known += n
		}
		if known < 430 || s.own.answers()[http.StatusTooManyRequests] > 0 {
			t.Errorf("%d intents of 430 are known after %d reads, answers %v", known, all, s.own.answers())
		}
	})
}
