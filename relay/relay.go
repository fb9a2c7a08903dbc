// Package relay receives the service's signed webhooks, stores them before it
// answers, and streams them to dashboards over a websocket.
package relay

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/api"
	"tillwatch/api/listener"
	"tillwatch/relay/journal"
	"tillwatch/relay/signature"
)

// Paths of a relay.
const (
	WebhookPath = "/webhooks"
	StreamPath  = "/v1/stream"
	EventsPath  = "/v1/events"
	// QuarantinePath lists signed bodies that are not events.
	QuarantinePath = "/v1/quarantine"
	// ObservationsPath accepts observed requests of the account.
	ObservationsPath = "/v1/observations"
	MetricsPath      = "/metrics"
)

const (
	defaultHeaderPrefix = "x-svc-"
	// The sender waits 5 s for an answer and is to have one within 3.
	defaultStoreBudget = 2500 * time.Millisecond
	defaultHeartbeat   = 25 * time.Second
	defaultMaxStreams  = 4096
)

// Config configures a relay.
type Config struct {
	Journal        journal.Journal
	SigningSecrets []api.Secret      // at least one, each of at least 16 bytes
	OtherSecrets   []signature.Other // not accepted, only used to diagnose wrong signatures; default none
	Tokens         []api.Secret      // bearer tokens with every scope
	Issued         []Token           // tokens with scopes of their own; there is at least one of either kind
	HeaderPrefix   string            // default "x-svc-"
	Logger         *slog.Logger      // default: discards
	StoreBudget    time.Duration     // time for everything that waits here, after which the answer is 503; default 2.5 s
	Heartbeat      time.Duration     // of the stream; default 25 s
	MaxStreams     int               // streams open at once; default 4096
	AllowedOrigins []string          // origins of pages that may send deliveries, as in https://shop.example; default none
	Retention      time.Duration     // how long bodies are kept while the relay serves; default 0: for ever
	Events         EventList         // the service's events, to find those that no delivery brought; default nil
	TLS            *tls.Config       // of the listeners; default nil: plain HTTP
}

func (c Config) withDefaults() Config {
	c.HeaderPrefix = cmp.Or(c.HeaderPrefix, defaultHeaderPrefix)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.StoreBudget = cmp.Or(max(c.StoreBudget, 0), defaultStoreBudget)
	c.Heartbeat = cmp.Or(max(c.Heartbeat, 0), defaultHeartbeat)
	c.MaxStreams = cmp.Or(max(c.MaxStreams, 0), defaultMaxStreams)
	return c
}

// Relay is the receiver, the stream and the reading side over one journal.
type Relay struct {
	journal   journal.Journal
	logger    *slog.Logger
	failures  *listener.Throttle // limits how often a failure is logged
	budget    time.Duration      // of a delivery's waiting for the store
	heartbeat time.Duration
	retention time.Duration // 0: for ever
	tls       *tls.Config

	verifier   *verifier
	signatures *wrongSignatures
	origins    origins

	tokens       tokens
	upgrader     *websocket.Upgrader
	hub          *hub
	observations *observations

	draining  atomic.Bool
	readiness readiness
	metrics   *metrics
	backfill  *backfill
}

// New checks cfg and returns a relay. It starts nothing: a relay has goroutines only while requests run.
func New(cfg Config) (*Relay, error) {
	if cfg.Journal == nil {
		return nil, errors.New("a relay needs a journal")
	}
	cfg = cfg.withDefaults()
	if !regexp.MustCompile(`^[A-Za-z0-9-]+$`).MatchString(cfg.HeaderPrefix) {
		return nil, fmt.Errorf("header prefix %.40q: give letters, digits and hyphens, as in %s",
			cfg.HeaderPrefix, defaultHeaderPrefix)
	}
	verifier, err := newVerifier(cfg.HeaderPrefix, cfg.SigningSecrets)
	if err != nil {
		return nil, err
	}
	origins, err := newOrigins(cfg.AllowedOrigins, cfg.HeaderPrefix)
	if err != nil {
		return nil, err
	}
	log := listener.NewThrottle(cfg.Logger.Handler(), listener.ThrottleInterval)
	r := &Relay{
		journal:      cfg.Journal,
		logger:       slog.New(log),
		failures:     log,
		budget:       cfg.StoreBudget,
		heartbeat:    cfg.Heartbeat,
		retention:    cfg.Retention,
		tls:          cfg.TLS,
		verifier:     verifier,
		origins:      origins,
		upgrader:     newUpgrader(),
		observations: newObservations(),
	}
	if err := r.tokens.set(cfg.Tokens, cfg.Issued); err != nil {
		return nil, err
	}
	r.metrics = newMetrics(r)
	r.backfill = &backfill{relay: r, list: cfg.Events, doubt: make(chan struct{}, 1)}
	r.hub = newHub(r.journal, r.observations, r.logger, cfg.MaxStreams)
	r.signatures = &wrongSignatures{
		prefix: cfg.HeaderPrefix, logger: r.logger, changed: r.hub.wakeSoon,
		secrets: cfg.SigningSecrets, others: cfg.OtherSecrets,
	}
	r.hub.signatures = r.signatures
	return r, nil
}

// SetSigningSecrets replaces the active signing secrets, as in a rotation. On an error the old ones stay.
func (r *Relay) SetSigningSecrets(secrets []api.Secret) error {
	err := r.verifier.setSecrets(secrets)
	if err == nil {
		r.signatures.rotate(secrets)
	}
	return err
}

// SetTokens replaces the accepted tokens, and ends streams whose token is no longer valid. On an error the old
// ones stay.
func (r *Relay) SetTokens(tokens []api.Secret, issued []Token) error {
	if err := r.tokens.set(tokens, issued); err != nil {
		return err
	}
	r.hub.endUnadmitted()
	return nil
}

// Ingest serves POST /webhooks, /livez and /readyz: what may face the public.
func (r *Relay) Ingest() http.Handler { return routed(r.routeIngest, r.routeProbes) }

// Admin serves the stream, /v1/events, /v1/quarantine, /v1/observations, /metrics and the probes.
func (r *Relay) Admin() http.Handler { return routed(r.routeAdmin, r.routeProbes) }

// Handler serves both on one address.
func (r *Relay) Handler() http.Handler { return routed(r.routeIngest, r.routeAdmin, r.routeProbes) }

func routed(routes ...func(*http.ServeMux)) http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes {
		route(mux)
	}
	return mux
}

func (r *Relay) routeIngest(mux *http.ServeMux) {
	mux.HandleFunc("POST "+WebhookPath, func(w http.ResponseWriter, req *http.Request) {
		r.origins.admit(w, req)
		r.receive(w, req)
	})
	if len(r.origins.allowed) > 0 {
		mux.HandleFunc("OPTIONS "+WebhookPath, r.origins.preflight)
	}
}

func (r *Relay) routeAdmin(mux *http.ServeMux) {
	mux.Handle("GET "+StreamPath, r.authorized(ScopeStream, r.stream))
	mux.Handle("GET "+EventsPath, r.authorized(ScopeRead, r.listEvents))
	mux.Handle("GET "+MetricsPath, r.authorized(ScopeAdmin, r.metrics.handler.ServeHTTP))
	mux.Handle("GET "+EventsPath+"/{id}", r.authorized(ScopeRead, r.oneEvent))
	mux.Handle("GET "+EventsPath+"/{id}/raw", r.authorized(ScopeRead, r.rawEvent))
	mux.Handle("POST "+ObservationsPath, r.authorized(ScopeReport, r.observe))
	mux.Handle("GET "+QuarantinePath, r.authorized(ScopeRead, r.listQuarantine))
}

func (r *Relay) routeProbes(mux *http.ServeMux) {
	mux.HandleFunc("GET "+livePath, r.livez)
	mux.HandleFunc("GET "+readyPath, r.readyz)
}

// Shutdown says bye to every subscriber and waits for their goroutines. Stop accepting requests first. If ctx ends
// first, it cuts the subscribers off and returns an error.
func (r *Relay) Shutdown(ctx context.Context) error {
	r.draining.Store(true)
	defer r.failures.Close()
	r.signatures.tasks.Wait()
	return r.hub.shutdown(ctx)
}
