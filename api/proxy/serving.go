package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"tillwatch/api"
)

// acceptPause is how long the proxy waits after a client could not be accepted, as when files run out.
const acceptPause = 100 * time.Millisecond

// clients are the connections of clients.
type clients struct {
	mu     sync.Mutex
	open   map[net.Conn]bool // whether it waits for a request
	ending bool
	tasks  sync.WaitGroup
}

// Serve serves a listener until ctx ends. Then it accepts no more requests, waits for
// those under way, and reports the remaining observations.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	if p.tls != nil {
		ln = tls.NewListener(ln, p.tls)
	}
	defer p.failures.Close()
	defer p.reads.CloseIdleConnections()
	observing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { p.queue.run(observing) })
	defer tasks.Wait()
	defer stop()
	served := make(chan error, 1)
	go func() { served <- p.accept(ctx, ln) }()
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serving the proxy: %w", err), p.clients.end(0))
	case <-ctx.Done():
	}
	err := ln.Close()
	<-served
	if err = errors.Join(err, p.clients.end(drainTimeout)); err != nil {
		return fmt.Errorf("ending the proxy: %w", err)
	}
	return nil
}

// accept serves each client that connects, until the listener is closed.
func (p *Proxy) accept(ctx context.Context, ln net.Listener) error {
	for {
		conn, err := ln.Accept()
		var passing interface{ Temporary() bool }
		switch {
		case err == nil:
			if p.clients.admit(conn) {
				go p.serve(conn)
				continue
			}
			if !p.clients.leaving() {
				p.logger.Warn("a connection was refused: there are too many", slog.Int("limit", maxConnections))
			}
			_ = conn.Close() // nothing was said over it
		case errors.As(err, &passing) && passing.Temporary():
			p.logger.Warn("a client could not connect", slog.String("error", err.Error()))
			_ = api.Sleep(ctx, acceptPause) // Accept says whether ctx has ended
		default:
			return err
		}
	}
}

// admit takes a new connection in, unless there are too many. Each admitted connection must call leave.
func (c *clients) admit(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || len(c.open) >= maxConnections {
		return false
	}
	c.open[conn] = true
	c.tasks.Add(1)
	return true
}

// await notes that a connection waits for a request, and sets the time by which one must begin. It reports whether
// the connection is still open.
func (c *clients) await(conn net.Conn, wait time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = true
	if c.ending {
		wait = lastRequests
	}
	return conn.SetReadDeadline(time.Now().Add(wait)) == nil
}

// begin notes that a request begins.
func (c *clients) begin(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = false
}

func (c *clients) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
	c.tasks.Done()
}

// count returns the number of connections, as Prometheus wants it.
func (c *clients) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.open))
}

// leaving reports whether no more requests are taken.
func (c *clients) leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// end lets the connections that wait take a request that is on its way, and closes each once it has none, or after
// the limit.
func (c *clients) end(limit time.Duration) error {
	c.mu.Lock()
	c.ending = true
	for conn, waits := range c.open {
		if waits {
			_ = conn.SetReadDeadline(time.Now().Add(lastRequests)) // it fails only on one that is closed
		}
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.tasks.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(limit):
	}
	c.close()
	<-ended
	return fmt.Errorf("requests were still under way after %s", api.Span(limit))
}

// close closes all connections.
func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		c.tasks.Go(func() { _ = conn.Close() }) // its goroutine notices; TLS waits for a client that reads nothing
	}
}
