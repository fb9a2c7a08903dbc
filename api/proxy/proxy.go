// Package proxy stands between a program and the service, passes everything on
// unchanged, and reports what passes to those who watch the account's quota.
//
// It waits for nobody but the service: what is to be reported goes into a bounded
// queue, and is dropped and counted where that is full. It keeps no body, no key
// and nothing on disk.
package proxy

import (
	"context"
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
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/listener"
	"tillwatch/api/quota"
)

// Bounds of what clients and the service can make a proxy hold. A body may take as
// long as its sender likes: the service decides how long it waits for one.
const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 2 * time.Minute // longer than clients keep a connection: a request never meets one that is being closed
	maxHeader      = 64 << 10        // bytes, each way
	maxConnections = 4096            // of clients
	keptIdle       = 256             // connections to the service
	idleToService  = 30 * time.Second
	drainTimeout   = 10 * time.Second
	flushAfter     = 5 * time.Millisecond // what comes sooner goes out in one piece; an answer of unknown length never waits
)

// Config says whom a proxy stands before. Upstream is required; every other field
// may be left zero.
type Config struct {
	Upstream      string      // the service's base URL, http or https, without /api/v1
	InsecureHTTP  bool        // allow http:// to another machine, where everyone on the way can read the keys
	LookupPath    string      // of the product lookup; default [quota.DefaultLookupPath]
	SpenderHeader string      // whose value names the caller; default User-Agent
	TLS           *tls.Config // of the listener; nil: http
	Logger        *slog.Logger

	// Observe takes what was observed, in batches that are its own. It is called by
	// one goroutine: while it takes its time, observations are dropped and counted.
	// Nil: they are counted only.
	Observe func([]quota.Observation)
}

// Proxy passes requests on to one service. Its Handler may be served by anybody;
// [Proxy.Serve] does so, and hands on what is observed.
type Proxy struct {
	upstream *url.URL
	tls      *tls.Config
	passing  *httputil.ReverseProxy
	service  *http.Transport
	queue    *queue
	metrics  *metrics
	logger   *slog.Logger
	failures *listener.Throttle // as they were logged

	mu     sync.Mutex
	open   int               // connections of clients
	silent map[net.Conn]bool // those that have asked for nothing yet
}

// New checks cfg and makes a proxy. It opens no connection.
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
	p := &Proxy{upstream: upstream, tls: cfg.TLS, silent: map[net.Conn]bool{}, service: api.TransportTo(upstream.Hostname()), failures: listener.NewThrottle(cfg.Logger.Handler(), listener.ThrottleInterval)}
	p.logger = slog.New(p.failures)
	p.metrics = newMetrics(p)
	p.queue = newQueue(cfg.Observe, p.metrics.dropped)
	// No HTTP/2: there net/http sends a request without a body again by itself, a
	// confirm too, where the service refuses the stream or goes away, and then it was
	// not processed (RFC 9113, 8.7), but also where the service resets the stream with
	// PROTOCOL_ERROR, and then it may have been. Only a body that cannot be read again
	// stops that (sendOnce), and over HTTP/2 even an empty one is sent, as a frame of
	// its own. Which protocol a connection speaks is not known before the body is set.
	// What tries once, http.Transport.NewClientConn, needs a pool of our own.
	p.service.ForceAttemptHTTP2 = false
	p.service.DisableCompression = true // what the client accepts is what the service is asked for
	p.service.MaxIdleConns, p.service.MaxIdleConnsPerHost = keptIdle, keptIdle
	p.service.IdleConnTimeout = idleToService
	p.service.MaxResponseHeaderBytes = maxHeader
	p.passing = &httputil.ReverseProxy{
		Rewrite: p.rewrite,
		Transport: &quota.Transport{
			Base: p.service, Observe: p.observe, BasePath: upstream.Path, LookupPath: cfg.LookupPath, SpenderHeader: cfg.SpenderHeader,
		},
		FlushInterval: flushAfter,
		BufferPool:    &buffers{},
		ErrorHandler:  p.unanswered,
		ErrorLog:      slog.NewLogLogger(p.logger.Handler(), slog.LevelDebug),
	}
	return p, nil
}

// checkSpenderHeader refuses headers that hold secrets: their values are told to
// everyone who watches.
func checkSpenderHeader(name string) error {
	if name == "" {
		return nil
	}
	if !regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`).MatchString(name) {
		return errors.New("the spender's header must be the name of a header, such as X-Job")
	}
	holds := func(secret string) bool { return strings.Contains(strings.ToLower(name), secret) }
	if slices.ContainsFunc([]string{"key", "token", "secret", "auth", "cookie", "password"}, holds) {
		return fmt.Errorf("the spender's header must not be %s: its value is a secret, and the spender's name is shown", http.CanonicalHeaderKey(name))
	}
	return nil
}

// Metrics answers with what Prometheus reads.
func (p *Proxy) Metrics() http.Handler { return p.metrics.handler }

func (p *Proxy) observe(o quota.Observation) {
	p.metrics.count(&o)
	p.queue.put(o)
}

// Serve passes on what comes over a listener until ctx ends. Then it takes no more,
// lets end what is under way, and hands on what is left to be observed.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	if p.tls != nil {
		ln = tls.NewListener(ln, p.tls)
	}
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, ConnState: p.admit,
		ErrorLog: slog.NewLogLogger(p.logger.Handler(), slog.LevelDebug),
	}
	defer p.failures.Close()
	defer p.service.CloseIdleConnections()
	observing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { p.queue.run(observing) })
	defer tasks.Wait()
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving the proxy: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	p.endSilent()
	err := server.Shutdown(last)
	if err != nil {
		err = errors.Join(fmt.Errorf("ending the proxy: %w", err), server.Close())
	}
	<-served
	return err
}

// admit closes a connection at once that comes beyond the bound.
func (p *Proxy) admit(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.silent, c)
	switch state {
	case http.StateNew:
		p.silent[c] = true
		if p.open++; p.open > maxConnections {
			p.logger.Warn("a connection was refused: there are too many", slog.Int("limit", maxConnections))
			_ = c.Close() // its end is told as that of any other
		}
	case http.StateClosed, http.StateHijacked:
		p.open--
	}
}

// connections is how many clients have open.
func (p *Proxy) connections() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(p.open)
}

// endSilent closes the connections over which nothing has been asked: net/http
// would wait for them.
func (p *Proxy) endSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.silent {
		_ = c.Close() // nothing is lost
	}
}
