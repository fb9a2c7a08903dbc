package relay

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"sync"
)

const (
	maxConnections = 8192
	// spareDescriptors are left for the journal, reloaded files and whatever else the process opens: half of all if
	// there are few.
	spareDescriptors = 128
)

// connectionLimit returns how many connections each of the listeners may hold so that none fails for want of a
// file descriptor. descriptors is 0 if the system sets no limit.
func connectionLimit(descriptors uint64, listeners int) int {
	limit := maxConnections
	if descriptors > 0 && descriptors < maxConnections {
		limit = int(descriptors - min(spareDescriptors, descriptors/2))
	}
	return max(limit/listeners, 1)
}

// connectionLimiter is a listener that holds at most limit connections. A connection is unverified until it has
// shown a valid signature or token. When all places are taken, a new connection replaces the oldest unverified
// one, so that strangers, however many, never keep the sender out. Neither do clients with a token: they can
// verify at most half of the places.
type connectionLimiter struct {
	net.Listener
	limit   int
	evicted func() // called for each connection that was closed for a new one

	mu         sync.Mutex
	held       int
	readers    int           // connections verified only by a token
	unverified list.List     // of *limitedConn, in order of arrival
	freed      chan struct{} // capacity 1: a place may be free
	once       sync.Once
	closed     chan struct{}
}

func newConnectionLimiter(ln net.Listener, limit int, evicted func()) *connectionLimiter {
	return &connectionLimiter{Listener: ln, limit: limit, evicted: evicted, freed: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for a place only while every connection is verified.
func (g *connectionLimiter) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		admitted, oldest := g.admit(c)
		switch {
		case admitted != nil:
			return admitted, nil
		case oldest != nil:
			_ = oldest.Close() // the connection is lost either way
			g.evicted()
			continue
		}
		select {
		case <-g.freed:
		case <-g.closed:
			_ = c.Close()
			return nil, net.ErrClosed
		}
	}
}

// admit gives c a place. If there is none, it returns the oldest unverified connection, if any.
func (g *connectionLimiter) admit(c net.Conn) (admitted, oldest *limitedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held < g.limit {
		g.held++
		admitted = &limitedConn{Conn: c, limiter: g}
		admitted.place = g.unverified.PushBack(admitted)
		return admitted, nil
	}
	if first := g.unverified.Front(); first != nil {
		return nil, first.Value.(*limitedConn)
	}
	return nil, nil
}

// Close stops accepting. Open connections stay.
func (g *connectionLimiter) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// closeUnverified closes the connections that are unverified.
func (g *connectionLimiter) closeUnverified() {
	var all []*limitedConn
	g.mu.Lock()
	for e := g.unverified.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*limitedConn))
	}
	g.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// limitedConn is a connection that holds a place.
type limitedConn struct {
	net.Conn
	limiter *connectionLimiter
	once    sync.Once
	// Under the limiter's lock:
	place  *list.Element // among the unverified; nil once it is verified
	reader bool          // verified only by a token
}

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.verifySender()
		c.limiter.mu.Lock()
		c.limiter.held--
		if c.reader {
			c.limiter.readers--
		}
		c.limiter.mu.Unlock()
		select {
		case c.limiter.freed <- struct{}{}:
		default:
		}
	})
	return c.Conn.Close()
}

// verifySender marks the connection as verified by a signature.
func (c *limitedConn) verifySender() {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.unlist()
}

// verifyReader marks it as verified by a token, while such connections hold less than half of the places.
func (c *limitedConn) verifyReader() {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if c.place != nil && c.limiter.readers < c.limiter.limit/2 {
		c.unlist()
		c.reader = true
		c.limiter.readers++
	}
}

func (c *limitedConn) unlist() {
	if c.place != nil {
		c.limiter.unverified.Remove(c.place)
		c.place = nil
	}
}

func (c *limitedConn) isVerified() bool {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	return c.place == nil
}

type connectionKey struct{}

// withConnection stores in ctx which connection a request came over.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if g, is := c.(*limitedConn); is {
		return context.WithValue(ctx, connectionKey{}, g)
	}
	return ctx
}

// verifiedSender records that a valid signature came over a request's connection.
func verifiedSender(ctx context.Context) {
	if g, is := ctx.Value(connectionKey{}).(*limitedConn); is {
		g.verifySender()
	}
}

// verifiedReader records that a valid token came over a request's connection.
func verifiedReader(ctx context.Context) {
	if g, is := ctx.Value(connectionKey{}).(*limitedConn); is {
		g.verifyReader()
	}
}

// isVerifiedConnection reports whether the connection of a request is verified.
func isVerifiedConnection(ctx context.Context) bool {
	g, is := ctx.Value(connectionKey{}).(*limitedConn)
	return is && g.isVerified()
}
