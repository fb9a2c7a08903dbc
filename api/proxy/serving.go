package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"tillwatch/api"
)

// Serve serves a listener until ctx ends. Then it accepts no more connections, waits for the requests that are under
// way or on their way, and reports the remaining observations.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	if p.tls != nil {
		ln = tls.NewListener(ln, p.tls)
	}
	server := &http.Server{
		Handler: p, ConnState: p.clients.admit, DisableGeneralOptionsHandler: true,
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // no HTTP/2
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(serverLog{p.logger}, "", 0),
	}
	defer p.failures.Close()
	defer p.service.shared.CloseIdleConnections()
	observing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { p.queue.run(observing) })
	defer tasks.Wait()
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serving the proxy: %w", err), server.Close())
	case <-ctx.Done():
	}
	p.leaving.Store(true)
	err := ln.Close()
	<-served
	if err = errors.Join(err, p.end(server)); err != nil {
		return fmt.Errorf("ending the proxy: %w", err)
	}
	return nil
}

// end ends the connections: each once its request is answered, and those without one after a moment in which requests
// that were on their way arrive.
func (p *Proxy) end(server *http.Server) error {
	if p.clients.count() > 0 {
		time.Sleep(lastRequests)
	}
	p.clients.endSilent()
	last, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(fmt.Errorf("requests were still under way after %s", api.Span(drainTimeout)), server.Close())
	}
	return err
}

// clients are the connections of clients.
type clients struct {
	logger *slog.Logger

	mu     sync.Mutex
	open   int
	silent map[net.Conn]bool // connections without a request so far
}

// admit counts connections and closes a new one beyond the bound at once.
func (c *clients) admit(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.silent, conn)
	switch state {
	case http.StateNew:
		c.silent[conn] = true
		if c.open++; c.open > maxConnections {
			c.logger.Warn("a connection was refused: there are too many", slog.Int("limit", maxConnections))
			_ = conn.Close() // net/http reports its end as StateClosed
		}
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
}

// count returns the number of connections, as Prometheus wants it.
func (c *clients) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.open)
}

// endSilent closes the connections without any request so far: net/http would wait for them.
func (c *clients) endSilent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.silent {
		_ = conn.Close() // nothing is lost
	}
}

// serverLog takes what net/http's server logs. What concerns one connection alone is of no use, except to look for a
// fault.
type serverLog struct{ *slog.Logger }

// Write implements [io.Writer].
func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(line, []byte("http: Accept error")) || bytes.HasPrefix(line, []byte("http: panic")) {
		level = slog.LevelWarn
	}
	reason := api.Scrub(string(bytes.TrimSpace(line)))
	l.Log(context.Background(), level, "the proxy could not serve", slog.String("reason", string(reason)))
	return len(line), nil
}
