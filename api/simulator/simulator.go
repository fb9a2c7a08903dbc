package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"tillwatch/api"
)

// Simulator is the service. Its methods may be called from any goroutine.
type Simulator struct {
	cfg    Config
	log    *slog.Logger
	server *server

	repeats repeats

	mu        sync.Mutex // guards all below
	intents   map[string]*intent
	order     []*intent // by creation
	parcels   map[string]*shipment
	shipments []*shipment // by creation
	events    eventLog
	catalogue *catalogue
	buckets   buckets
	states    map[api.IntentState]int
	queued    []*intent // one-step purchases that wait for an agent
	agenda    agenda
	shop      shop
	outlet    *outlet // of the shop, where it calls over HTTP; nil: it acts within the process
	faults    faultPlan
	endpoints []*endpoint
	counts    Counts
	warned    sync.Map        // what warnOnce has logged
	running   context.Context // nil while Run does not run
	owned     *sync.WaitGroup // the goroutines of Run
	crashed   chan error
}

// New checks cfg and makes a simulator with a day of history behind it. Nothing
// moves and nothing is delivered until [Simulator.Run].
func New(cfg Config) (*Simulator, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s := &Simulator{
		cfg:       cfg,
		log:       cfg.Logger,
		intents:   map[string]*intent{},
		parcels:   map[string]*shipment{},
		events:    newEventLog(cfg.WholeSeconds),
		catalogue: newCatalogue(),
		states:    map[api.IntentState]int{},
		agenda:    newAgenda(),
		crashed:   make(chan error, 1),
		repeats:   repeats{byKey: map[string]*taken{}},
	}
	now := time.Now()
	s.buckets = newBuckets(cfg)
	s.shop = newShop(cfg.Seed)
	if cfg.ShopURL != "" {
		s.outlet = newOutlet(cfg)
	}
	s.faults = newFaultPlan(cfg)
	s.writeHistory(now)
	if cfg.WebhookURL != "" {
		s.endpoints = append(s.endpoints, s.newEndpoint(cfg.WebhookURL, 0, now))
	}
	if cfg.IntentsPerMinute > 0 {
		s.openShop(now)
	}
	s.server = newServer(s)
	return s, nil
}

// Handler serves the API, and the control API under /control/.
func (s *Simulator) Handler() http.Handler { return s.server }

// Run moves intents and shipments on and delivers webhooks until ctx ends. It
// returns after its goroutines have. It returns an error only when a
// part of the simulator crashed or Run was already running.
func (s *Simulator) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var owned sync.WaitGroup
	s.mu.Lock()
	if s.running != nil {
		s.mu.Unlock()
		return errors.New("simulator: already running")
	}
	s.running, s.owned = ctx, &owned
	s.spawn("agenda", s.keepAgenda)
	for _, e := range s.endpoints {
		s.spawn("webhook endpoint", e.run)
	}
	s.mu.Unlock()

	var err error
	select {
	case <-ctx.Done():
	case err = <-s.crashed:
		cancel()
	}
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	owned.Wait()
	if s.outlet != nil {
		s.outlet.http.CloseIdleConnections()
	}
	return err
}

// spawn starts a goroutine that Run waits for. The caller holds the lock and
// has seen that Run runs.
func (s *Simulator) spawn(what string, run func(context.Context)) {
	ctx := s.running
	s.owned.Go(func() {
		defer s.reportPanic(what)
		run(ctx)
	})
}

func (s *Simulator) reportPanic(what string) {
	if p := recover(); p != nil {
		select {
		case s.crashed <- fmt.Errorf("simulator: %s: panic: %v", what, p):
		default:
		}
	}
}

// Counts are what has come of the requests so far.
type Counts struct {
	Requests  uint64 `json:"requests"`     // answered, of the API
	Rejected  uint64 `json:"rejected"`     // with 429
	Refused   uint64 `json:"unauthorized"` // with 401
	Forbidden uint64 `json:"forbidden"`    // with 403
	Injected  uint64 `json:"injected"`     // with an injected error
}

// Summary is what the simulator holds at one moment.
type Summary struct {
	Intents   map[api.IntentState]int    `json:"intents"`
	Shipments map[api.ShipmentStatus]int `json:"shipments"`
	Events    int                        `json:"events"`
	Buckets   []BucketSummary            `json:"buckets"`
	Endpoints []EndpointSummary          `json:"webhookEndpoints"`
	Counts
	Pending int `json:"scheduled"` // things that will happen by themselves
}

// Summary counts what the simulator holds now.
func (s *Simulator) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary(time.Now())
}

func (s *Simulator) summary(now time.Time) Summary {
	sum := Summary{
		Intents:   make(map[api.IntentState]int, len(s.states)),
		Shipments: map[api.ShipmentStatus]int{},
		Events:    s.events.len(),
		Buckets:   s.buckets.summary(now),
		Endpoints: []EndpointSummary{},
		Counts:    s.counts,
		Pending:   s.agenda.len(),
	}
	for _, state := range api.IntentStates() {
		sum.Intents[state] = s.states[state]
	}
	for _, p := range s.shipments {
		sum.Shipments[p.Status]++
	}
	for _, e := range s.endpoints {
		sum.Endpoints = append(sum.Endpoints, e.summed())
	}
	return sum
}
