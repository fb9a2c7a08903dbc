package simulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
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
	webhooks   webhooks
	fulfilment fulfilment
	shop       shop
}

// New checks cfg and returns a simulator with a history of some hours. Nothing moves and
// nothing is delivered until [Simulator.Run].
func New(cfg Config) (*Simulator, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	if cfg.Seed == 0 && cfg.From != nil {
		cfg.Seed = gjson.GetBytes(cfg.From, "seed").Uint()
	}
	s := &Simulator{
		cfg:        &cfg,
		goroutines: goroutines{crashed: make(chan error, 1)},
		agenda:     newAgenda(startClock(cfg.At, cfg.Stopped)),
		catalogue:  newCatalogue(),
		buckets:    newBuckets(cfg),
	}
	s.webhooks = webhooks{cfg: &cfg, goroutines: &s.goroutines, mu: &s.mu, events: eventLog{most: math.MaxInt / 2, byID: map[string]int{}}, sent: deliveries.NewLog(keptDeliveries)}
	s.fulfilment = fulfilment{
		cfg: &cfg, agenda: &s.agenda, catalogue: s.catalogue, buckets: &s.buckets, webhooks: &s.webhooks,
		most: math.MaxInt / 2, intents: map[string]*intent{}, states: map[api.IntentState]int{}, parcels: map[string]*shipment{},
	}
	s.shop = shop{
		cfg: &cfg, goroutines: &s.goroutines, agenda: &s.agenda, catalogue: s.catalogue, buckets: &s.buckets, webhooks: &s.webhooks, fulfilment: &s.fulfilment,
		mu: &s.mu, dice: newDice(cfg.Seed, diceShop, 0), orders: 20_400, fates: map[string]Fate{},
	}
	if cfg.ShopURL != "" {
		s.shop.client = newShopClient(cfg)
	}
	s.server = newServer(s)
	now := s.agenda.now()
	if cfg.From == nil {
		s.shop.writeHistory(now) // before the balance is set: the history draws nothing
		s.fulfilment.balance = newBalance(cfg.Balance)
	} else if err := s.restore(now); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	// What it begins with stays.
	s.fulfilment.most, s.webhooks.events.most = max(keptIntents, len(s.fulfilment.order.items)), max(keptEvents, len(s.webhooks.events.items))
	if cfg.WebhookURL != "" {
		s.webhooks.register(cfg.WebhookURL, cfg.From == nil, now)
	}
	if cfg.IntentsPerMinute > 0 {
		s.shop.open(now)
	}
	return s, nil
}

// Handler serves the API, and the control API under /control/.
func (s *Simulator) Handler() http.Handler { return s.server }

// Run moves intents and shipments on and delivers webhooks until ctx ends. It returns
// after its goroutines have ended. It returns an error only if a part of the simulator
// panicked or Run is already running.
func (s *Simulator) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var owned sync.WaitGroup
	s.mu.Lock()
	if s.goroutines.running != nil {
		s.mu.Unlock()
		return errors.New("simulator: already running")
	}
	s.goroutines.running, s.goroutines.owned = ctx, &owned
	s.goroutines.spawn("agenda", s.keepAgenda)
	for _, e := range s.webhooks.endpoints {
		s.goroutines.spawn("webhook endpoint", e.run)
	}
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
	owned.Wait()
	if s.shop.client != nil {
		s.shop.client.http.CloseIdleConnections()
	}
	return err
}

// Counts counts the requests so far.
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
	Pending int `json:"scheduled"` // tasks that will run by themselves
}

// Summary returns a summary of the present state.
func (s *Simulator) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary()
}

func (s *Simulator) summary() Summary {
	sum := Summary{
		Intents:   make(map[api.IntentState]int, len(s.fulfilment.states)),
		Shipments: map[api.ShipmentStatus]int{},
		Events:    len(s.webhooks.events.items),
		Buckets:   s.buckets.summary(&s.agenda.clock),
		Endpoints: []EndpointSummary{},
		Counts:    s.server.counts,
		Pending:   s.agenda.len(),
	}
	for _, state := range api.IntentStates() {
		sum.Intents[state] = s.fulfilment.states[state]
	}
	for _, p := range s.fulfilment.shipments.items {
		sum.Shipments[p.Status]++
	}
	for _, e := range s.webhooks.endpoints {
		sum.Endpoints = append(sum.Endpoints, e.summed())
	}
	return sum
}
