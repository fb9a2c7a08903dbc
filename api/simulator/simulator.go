// Package simulator is the stand-in for the service: the whole contract over real HTTP, with a shop that acts by
// itself, for demonstrations, tests and integration work.
//
// It follows the contract strictly: five states, nine event types, closed bodies, `Bearer` keys only, RateLimit
// fields on every answer. Where the contract shows nothing, it does what public clients have observed. An intent
// created over HTTP always gets its offer and completes once it is confirmed, unless its product URL, its variant,
// its constraints or the merchant's stock prevent that; only the intents of the shop fail at random. Product events
// match the lookup.
//
// A product URL whose path ends in /magic/ and a name, one of [Magics] or [FailureCodes], decides the fate of its
// intent: with https://shop.example/magic/payment_failed the intent fails with this code, at the step where that
// failure usually happens, or with ?while=placing while its order is placed.
//
// A registered endpoint first gets the verification challenge, repeatedly until it answers, then events. A delivery
// that is not answered with 200 within 5 seconds is tried again after each of [RetryPauses], then given up.
//
// The seed decides everything random: the n-th intent of a seed has the same id, offer and fate in every run. The
// seconds of the buckets, the shop, the 5 seconds of a delivery and the pauses between its attempts are real time,
// the day of the intents is the service's; all other durations are divided by the speed.
//
// [Controls] lists the endpoints of the control API under /control/.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/listener"
)

// Simulator is the stand-in for the service. It is safe for concurrent use.
type Simulator struct {
	cfg    *Config
	server *server

	mu         sync.Mutex // guards all below
	goroutines goroutines
	agenda     agenda
	catalogue  *catalogue
	buckets    buckets
	faults     faultPlan
	webhooks   webhooks
	fulfilment fulfilment
	shop       shop
}

// New checks cfg and returns a simulator with a history of some hours. Nothing moves and nothing is delivered until
// [Simulator.Run].
func New(cfg Config) (*Simulator, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s := &Simulator{
		cfg: &cfg, goroutines: goroutines{crashed: make(chan error, 1)}, agenda: newAgenda(cfg.At),
		catalogue: newCatalogue(), buckets: newBuckets(cfg), faults: newFaultPlan(&cfg),
	}
	s.webhooks = newWebhooks(&cfg, &s.mu, &s.faults)
	s.fulfilment = fulfilment{
		cfg: &cfg, agenda: &s.agenda, catalogue: s.catalogue, buckets: &s.buckets, webhooks: &s.webhooks,
		most: math.MaxInt / 2, intents: map[string]*intent{}, states: map[api.IntentState]int{},
		parcels: map[string]*shipment{},
	}
	s.shop = shop{
		cfg: &cfg, goroutines: &s.goroutines, agenda: &s.agenda, catalogue: s.catalogue, buckets: &s.buckets,
		webhooks: &s.webhooks, fulfilment: &s.fulfilment,
		mu: &s.mu, dice: newDice(cfg.Seed, diceShop, 0), orders: 20_400, fates: map[string]Fate{},
	}
	s.server = newServer(s)
	s.shop.connect(s.server)
	now := s.agenda.now()
	if cfg.From == nil {
		s.shop.writeHistory(now)
	} else if err := s.restore(now); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	// What it begins with stays.
	s.fulfilment.most = max(keptIntents, len(s.fulfilment.order.items))
	s.webhooks.events.most = max(keptEvents, len(s.webhooks.events.items))
	if cfg.WebhookURL != "" {
		s.webhooks.register(cfg.WebhookURL, cfg.From == nil, now)
	}
	return s, nil
}

// Handler serves the API, and the control API under /control/.
func (s *Simulator) Handler() http.Handler { return s.server }

// Serve serves the API, and the control API under /control/, on a listener until ctx ends, and then waits for the
// requests under way.
func (s *Simulator) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{
		Handler: s.server, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(on) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-done
	return err
}

// goroutines are those of [Simulator.Run]. The simulator's lock guards running.
type goroutines struct {
	crashed chan error      // the first panic
	running context.Context // nil while Run does not run
	owned   sync.WaitGroup
}

// spawn starts a goroutine that Run waits for. Only Run and its goroutines may call it.
func (g *goroutines) spawn(ctx context.Context, what string, run func(context.Context)) {
	g.owned.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				select {
				case g.crashed <- fmt.Errorf("simulator: %s: panic: %v", what, p):
				default:
				}
			}
		}()
		run(ctx)
	})
}

// Run moves intents and shipments on, lets the shop work and delivers webhooks until ctx ends. It returns after its
// goroutines have ended. It returns an error only if a part of the simulator panicked or Run is already running.
func (s *Simulator) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	if s.goroutines.running != nil {
		s.mu.Unlock()
		return errors.New("simulator: already running")
	}
	throttle := listener.NewThrottle(s.cfg.Logger.Handler(), logEvery)
	defer throttle.Close()
	s.goroutines.running, s.webhooks.logger = ctx, slog.New(throttle)
	s.goroutines.spawn(ctx, "agenda", s.keepAgenda)
	for range workers {
		s.goroutines.spawn(ctx, "webhooks", s.webhooks.work)
	}
	s.shop.open(ctx)
	s.mu.Unlock()

	var err error
	select {
	case <-ctx.Done():
	case err = <-s.goroutines.crashed:
		cancel()
	}
	s.mu.Lock()
	s.goroutines.running = nil
	s.mu.Unlock()
	s.goroutines.owned.Wait()
	s.webhooks.client.CloseIdleConnections()
	s.shop.client.CloseIdleConnections()
	return err
}

// Counts counts the requests so far.
type Counts struct {
	Requests uint64 `json:"requests"`     // answered, of the API
	Rejected uint64 `json:"rejected"`     // with 429
	Refused  uint64 `json:"unauthorized"` // with 401
	Injected uint64 `json:"injected"`     // with an injected error
}

// Summary is what the simulator holds at one moment.
type Summary struct {
	Clock     string                     `json:"clock"` // the service's own time
	Intents   map[api.IntentState]int    `json:"intents"`
	Shipments map[api.ShipmentStatus]int `json:"shipments"`
	Events    int                        `json:"events"`
	Buckets   []BucketSummary            `json:"buckets"`
	Endpoints []EndpointSummary          `json:"webhookEndpoints"`
	Counts
	Pending int `json:"scheduled"` // tasks that will run by themselves
}

func (s *Simulator) summary() Summary {
	now := s.agenda.now()
	sum := Summary{
		Clock: stamp(now), Intents: make(map[api.IntentState]int, len(s.fulfilment.states)),
		Shipments: map[api.ShipmentStatus]int{}, Events: len(s.webhooks.events.items),
		Buckets: s.buckets.summary(now), Endpoints: []EndpointSummary{}, Counts: s.server.counts, Pending: s.agenda.len(),
	}
	for _, state := range api.IntentStates() {
		sum.Intents[state] = s.fulfilment.states[state]
	}
	for _, p := range s.fulfilment.shipments.items {
		sum.Shipments[p.Status]++
	}
	for _, e := range s.webhooks.endpoints {
		sum.Endpoints = append(sum.Endpoints, e.EndpointSummary)
	}
	return sum
}
