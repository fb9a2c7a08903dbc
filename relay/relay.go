// Package relay receives the service's signed webhooks, stores them before it
// answers, and streams them to dashboards over a websocket.
package relay

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

// Config sets a relay up.
type Config struct {
	Journal        journal.Journal
	SigningSecrets []api.Secret  // at least one, each of at least 16 bytes
	Tokens         []api.Secret  // bearer tokens of the stream and the reading side
	HeaderPrefix   string        // default "x-svc-"
	Logger         *slog.Logger  // default: discards
	StoreBudget    time.Duration // default 3 s: longer, and the answer is 503
}

// Relay is the receiver, the stream and the reading side over one journal.
type Relay struct{}

// New checks cfg and makes a relay.
func New(cfg Config) (*Relay, error) { panic("unwritten") }

// Ingest serves POST /webhooks, /livez and /readyz: what may face the public.
func (r *Relay) Ingest() http.Handler { panic("unwritten") }

// Admin serves the stream, /v1/events, the probes and /metrics.
func (r *Relay) Admin() http.Handler { panic("unwritten") }

// Handler serves both on one address.
func (r *Relay) Handler() http.Handler { panic("unwritten") }

// Shutdown says bye to every subscriber and waits for their goroutines. The
// caller has stopped accepting requests before.
func (r *Relay) Shutdown(ctx context.Context) error { panic("unwritten") }
