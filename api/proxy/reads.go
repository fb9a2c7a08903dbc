package proxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// reads sends the service each read over a connection that others have used, and all other requests with net/http's
// transport, each over a connection of its own: the service may close an idle one just as a request is written to it,
// and then nobody knows whether it has read it. It never sends anything twice.
//
// net/http has two goroutines for every connection, one that writes and one that reads. Here the goroutine that
// asks does both: [BenchmarkRate] and [BenchmarkLatency] measure the two beside each other.
type reads struct {
	transport *http.Transport
	pooled    *http.Transport // of reads that this one cannot send
	service   *url.URL
	writers   *sync.Pool

	mu     sync.Mutex
	idle   []*serviceConnection // the newest last
	expiry *time.Timer          // closes the oldest
}

func newReads(transport *http.Transport, service *url.URL, writers *sync.Pool) *reads {
	transport.MaxIdleConnsPerHost = -1 // none
	s := &reads{transport: transport, pooled: transport.Clone(), service: service, writers: writers}
	s.pooled.MaxIdleConns, s.pooled.MaxIdleConnsPerHost = keptIdle, keptIdle
	s.expiry = time.AfterFunc(idleToService, s.expire)
	s.expiry.Stop()
	return s
}

// RoundTrip implements [http.RoundTripper], except that it may change the request.
func (s *reads) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Body != nil {
		return s.transport.RoundTrip(r)
	}
	if !seesIdle || !s.straight(r) {
		r.Body = io.NopCloser(strings.NewReader("")) // or net/http would send it again by itself, and each is charged
		r.TransferEncoding = []string{"identity"}    // sends neither a length nor chunks
		return s.pooled.RoundTrip(r)
	}
	conn, err := s.take(r.Context())
	if err != nil {
		return nil, err
	}
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
	return conn.ask(r)
}

// straight reports whether no proxy of the environment stands before the service.
func (s *reads) straight(r *http.Request) bool {
	if s.transport.Proxy == nil {
		return true
	}
	proxy, err := s.transport.Proxy(r)
	return proxy == nil && err == nil
}

// take returns a connection that nobody uses, the one used last if it can be, for it is the least likely to break.
func (s *reads) take(ctx context.Context) (*serviceConnection, error) {
	for {
		s.mu.Lock()
		if len(s.idle) == 0 {
			s.mu.Unlock()
			return s.dial(ctx)
		}
		c := s.idle[len(s.idle)-1]
		s.idle = slices.Delete(s.idle, len(s.idle)-1, len(s.idle))
		s.mu.Unlock()
		if c.quiet() {
			return c, nil
		}
		c.hangUp()
	}
}

// give takes a connection back.
func (s *reads) give(c *serviceConnection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) >= keptIdle {
		c.hangUp()
		return
	}
	c.since = time.Now()
	if s.idle = append(s.idle, c); len(s.idle) == 1 {
		s.expiry.Reset(idleToService)
	}
}

// expire closes the connections that nobody has used for long.
func (s *reads) expire() {
	if left := s.closeIdle(idleToService); left > 0 {
		s.expiry.Reset(left)
	}
}

// closeIdle closes the connections that have been idle for at least a time. It returns how long the next one has
// until then; 0 if there is none.
func (s *reads) closeIdle(since time.Duration) (left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	kept := slices.IndexFunc(s.idle, func(c *serviceConnection) bool { return now.Sub(c.since) < since })
	if kept < 0 {
		kept = len(s.idle)
	} else {
		left = since - now.Sub(s.idle[kept].since)
	}
	for _, c := range s.idle[:kept] {
		c.hangUp()
	}
	s.idle = slices.Delete(s.idle, 0, kept)
	return left
}

// CloseIdleConnections implements what [http.Client.CloseIdleConnections] looks for.
func (s *reads) CloseIdleConnections() {
	s.expiry.Stop()
	s.closeIdle(0)
	s.pooled.CloseIdleConnections()
}

// dial connects to the service as net/http's transport does.
func (s *reads) dial(ctx context.Context) (*serviceConnection, error) {
	port := s.service.Port()
	if port == "" {
		port = s.service.Scheme // the service's usual port, by its name
	}
	name, err := httpguts.PunycodeHostPort(s.service.Hostname())
	if err != nil {
		return nil, err
	}
	conn, err := s.transport.DialContext(ctx, "tcp", net.JoinHostPort(name, port))
	if err != nil || s.service.Scheme != "https" {
		return s.connection(conn, conn), err
	}
	ctx, cancel := context.WithTimeout(ctx, s.transport.TLSHandshakeTimeout)
	defer cancel()
	secure := tls.Client(conn, s.tls(name))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // nothing was sent
		return nil, err
	}
	return s.connection(secure, conn), nil
}

func (s *reads) tls(name string) *tls.Config {
	cfg := s.transport.TLSClientConfig.Clone()
	if cfg == nil {
		cfg = &tls.Config{}
	}
	cfg.ServerName = name
	return cfg
}
