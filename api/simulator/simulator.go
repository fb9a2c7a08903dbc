// Package simulator stands in for the service: the whole contract over real
// HTTP, with a shop that lives by itself, for demonstrations, tests and
// integration work.
package simulator

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tillwatch/api"
)

// Config sets a simulator up. The zero value of each field means its default.
type Config struct {
	Key           api.Secret // API key that is accepted; required
	SigningSecret api.Secret // for webhooks; required when WebhookURL is set
	WebhookURL    string     // where events are delivered; "" for nowhere
	HeaderPrefix  string     // default "x-svc-"

	Seed             uint64
	Speed            float64 // 1: as the service; 10: ten times as fast
	IntentsPerMinute float64 // created by the simulator itself; 0: none
	AutoConfirm      float64 // share of its own intents that the simulated shop confirms itself

	Timings Timings
	Limits  Limits
	Faults  Faults
	Logger  *slog.Logger
}

// Timings are how long things take at speed 1. Actual times vary around them.
type Timings struct {
	Offer         time.Duration // default 8 s
	Placing       time.Duration // default 12 s
	ConfirmWindow time.Duration // default 45 min from creation
	ShipmentStep  time.Duration // default 40 s between two statuses
}

// Limits are the buckets of the contract. Negative means none.
type Limits struct {
	Mutations, Reads, Lookup int // a second; default 5, 10, 10
	PerDay                   int // default 50
	Agents                   int // default 10
}

// Faults are shares from 0 to 1, but for Delay.
type Faults struct {
	Duplicate, Reorder, Lose, BadSignature float64 // of webhook deliveries
	Delay                                  time.Duration
	Errors                                 float64 // of API answers: a 500
}

// Simulator is the service.
type Simulator struct{}

// New checks cfg and makes a simulator with a day of history behind it.
func New(cfg Config) (*Simulator, error) { panic("unwritten") }

// Handler serves the API, and the control API under /control/.
func (s *Simulator) Handler() http.Handler { panic("unwritten") }

// Run lives: it moves intents and shipments on and delivers webhooks until ctx
// ends, and returns after its goroutines have.
func (s *Simulator) Run(ctx context.Context) error { panic("unwritten") }
