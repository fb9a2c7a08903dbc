// Package proxy is a reverse proxy between a program and the service. It passes
// everything on unchanged and reports what it observes to dashboards, which show the
// account's quota.
//
// It waits for nobody but the service: observations go into a bounded queue, and are
// dropped and counted if it is full. It keeps no body, no key and nothing on disk.
package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/listener"
	"tillwatch/api/quota"
)

// Bounds of what clients and the service can make a proxy hold. There is no timeout for
// a body: the service decides how long it waits for one.
const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 2 * time.Minute // longer than clients keep connections: none is closed that a request is about to use
	maxHeader      = 64 << 10        // bytes, each way
	maxConnections = 4096            // of clients
	keptIdle       = 256             // idle connections to the service
	idleToService  = 30 * time.Second
	drainTimeout   = 10 * time.Second
	flushAfter     = time.Millisecond       // what has come of an answer goes on within this time; in one piece, mostly
	lastRequests   = 100 * time.Millisecond // how long the end of the proxy waits for requests that are on their way
)

// Config configures a [Proxy]. Upstream is required; every other field may be zero.
type Config struct {
	Upstream      string       // the service's base URL, http or https, without /api/v1
	InsecureHTTP  bool         // allow http:// to another machine, where everyone on the way can read the keys
	LookupPath    string       // path of the product lookup; default [quota.DefaultLookupPath]
	SpenderHeader string       // the header whose value names the caller; default User-Agent
	TLS           *tls.Config  // of the listener; nil: http
	Logger        *slog.Logger // nil: nothing is logged

	// Observe receives observations in batches, which it may keep. One goroutine calls
	// it: if it is slow, further observations are dropped and counted. Nil: the proxy
	// only counts requests.
	Observe func([]quota.Observation)
	Dropped func() int64 // how many observations Observe took and nobody got; nil: none
}

// Proxy passes requests on to one service. Create it with [New]. It is an [http.Handler]; only [Proxy.Serve] also
// reports observations.
type Proxy struct {
	upstream *url.URL
	tls      *tls.Config
	passing  *httputil.ReverseProxy
	service  once
	queue    *queue
	metrics  *metrics
	logger   *slog.Logger
	failures *listener.Throttle // the handler of logger
	clients  clients
	leaving  atomic.Bool // no more connections are accepted
}

// New checks cfg and returns a proxy. It opens no connection.
func New(cfg Config) (*Proxy, error) {
	if err := api.CheckBaseURL(cfg.Upstream); err != nil {
		return nil, fmt.Errorf("the service's address: %w", err)
	}
	upstream, err := url.Parse(cfg.Upstream)
	if err != nil {
		return nil, errors.New("the service's address cannot be read")
	}
	upstream.Path, upstream.RawPath = strings.TrimRight(upstream.Path, "/"), ""
	if err := api.CheckClearText(upstream, "API keys"); err != nil && !cfg.InsecureHTTP {
		return nil, err
	}
	if err := checkSpenderHeader(cfg.SpenderHeader); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	failures := listener.NewThrottle(cfg.Logger.Handler(), listener.ThrottleInterval)
	p := &Proxy{upstream: upstream, tls: cfg.TLS, failures: failures, logger: slog.New(failures)}
	p.clients = clients{logger: p.logger, silent: map[net.Conn]bool{}}
	p.queue = newQueue(cfg.Observe)
	p.metrics = newMetrics(p, cfg.Dropped)
	p.service = newOnce(transportTo(upstream))
	p.passing = &httputil.ReverseProxy{
		Rewrite: p.rewrite,
		Transport: &quota.Transport{
			Base: p.service, Observe: p.observe, BasePath: upstream.Path,
			LookupPath: cfg.LookupPath, SpenderHeader: cfg.SpenderHeader,
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode < http.StatusOK {
				return errStatus
			}
			return nil
		},
		FlushInterval: flushAfter,
		ErrorHandler:  p.unanswered,
		ErrorLog:      slog.NewLogLogger(p.logger.Handler(), slog.LevelDebug),
	}
	return p, nil
}

func transportTo(service *url.URL) *http.Transport {
	t := api.TransportTo(service.Hostname())
	// One TLS record holds a small request, for the reason that once.RoundTrip gives.
	t.TLSClientConfig = &tls.Config{DynamicRecordSizingDisabled: true, NextProtos: []string{"http/1.1"}}
	t.DisableCompression = true // Accept-Encoding is the client's
	t.IdleConnTimeout = idleToService
	t.MaxResponseHeaderBytes = maxHeader
	return t
}

// checkSpenderHeader refuses headers that hold secrets: everyone who watches sees the
// header's values.
func checkSpenderHeader(name string) error {
	if name == "" {
		return nil
	}
	if !regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`).MatchString(name) {
		return errors.New("the spender's header must be the name of a header, such as X-Job")
	}
	holds := func(secret string) bool { return strings.Contains(strings.ToLower(name), secret) }
	if slices.ContainsFunc([]string{"key", "token", "secret", "auth", "cookie", "password"}, holds) {
		return fmt.Errorf("the spender's header must not be %s: its value is a secret, and the spender's name is shown",
			http.CanonicalHeaderKey(name))
	}
	return nil
}

// Metrics returns a handler that answers with the metrics for Prometheus.
func (p *Proxy) Metrics() http.Handler { return p.metrics.handler }

func (p *Proxy) observe(o quota.Observation) {
	p.metrics.count(&o)
	p.queue.put(o)
}
