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
	// spareDescriptors are left to the journal, to files that are read again and
	// to whatever else a process opens.
	spareDescriptors = 128
	minConnections   = 64
)

// connectionLimit is how many connections each of so many listeners may hold, so
// that none is refused for want of a file descriptor. descriptors is 0 where the
// system sets no limit.
func connectionLimit(descriptors uint64, listeners int) int {
	limit := maxConnections
	if descriptors > 0 && descriptors < maxConnections {
		limit = int(descriptors) - spareDescriptors
	}
	return max(min(maxConnections, limit/listeners), minConnections)
}

// connectionLimiter is a listener that holds at most limit connections. A connection
// is unverified until a valid signature or token has come over it. While all places
// are taken, a new connection takes that of the oldest unverified one, so that
// strangers, however many, never keep the sender out. Nor do clients with a token:
// those beyond half of the places stay unverified.
type connectionLimiter struct {
	net.Listener
	limit   int
	evicted func() // called for each connection that was closed for a new one

	mu         sync.Mutex
	held       int
	readers    int           // connections that are verified by a token alone
	unverified list.List     // of *limitedConn, in the order of their coming
	freed      chan struct{} // of one: a place may be free
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
			_ = oldest.Close() // it is lost either way
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

// admit gives c a place; when there is none, it names the oldest unverified
// connection, if there is one.
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

// Close stops accepting. Connections that are open stay.
func (g *connectionLimiter) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// limitedConn is a connection that holds a place.
type limitedConn struct {
	net.Conn
	limiter *connectionLimiter
	once    sync.Once
	// Under the limiter's lock:
	place  *list.Element // among the unverified; nil once it is verified
	reader bool          // it is verified by a token alone
}

// Close gives the place back.
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

// verifySender takes the connection off the list of unverified ones.
func (c *limitedConn) verifySender() {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.unlist()
}

// verifyReader does so while readers have less than half of the places.
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

// withConnection notes in ctx which connection a request came over.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if g, is := c.(*limitedConn); is {
		return context.WithValue(ctx, connectionKey{}, g)
	}
	return ctx
}

// verifiedSender notes that a valid signature has come over the connection of a
// request.
func verifiedSender(ctx context.Context) {
	if g, is := ctx.Value(connectionKey{}).(*limitedConn); is {
		g.verifySender()
	}
}

// verifiedReader notes that a valid token has come over the connection of a request.
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
