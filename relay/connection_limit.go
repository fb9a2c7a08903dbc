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

// connectionLimiter is a listener that holds at most limit connections. A connection is a stranger's until a valid token
// or a new signed event has come over it: a delivery that was captured can be repeated by anyone. When all places are
// taken, the stranger that came first makes room for a new connection. If strangers have less than half of the
// places, of the others the one idle longest does. So nobody who fills all places keeps a sender out.
type connectionLimiter struct {
	net.Listener
	limit   int
	evicted func() // called for each connection that was closed for a new one

	mu        sync.Mutex
	strangers list.List // of *limitedConn, in order of arrival
	known     list.List // of *limitedConn, the one idle longest first
}

func newConnectionLimiter(ln net.Listener, limit int, evicted func()) *connectionLimiter {
	return &connectionLimiter{Listener: ln, limit: limit, evicted: evicted}
}

// Accept implements [net.Listener].
func (g *connectionLimiter) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	admitted, evicted := g.admit(c)
	if evicted != nil {
		_ = evicted.Close() // the connection is lost either way
		g.evicted()
	}
	return admitted, nil
}

// admit gives c a place. If there is none, it takes that of another connection, which it returns.
func (g *connectionLimiter) admit(c net.Conn) (admitted, evicted *limitedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.strangers.Len()+g.known.Len() >= g.limit {
		from := &g.strangers
		if g.known.Len() > g.limit/2 {
			from = &g.known
		}
		evicted = from.Front().Value.(*limitedConn)
		evicted.move(nil)
	}
	admitted = &limitedConn{Conn: c, limiter: g}
	admitted.move(&g.strangers)
	return admitted, evicted
}

// closeStrangers closes the connections of strangers.
func (g *connectionLimiter) closeStrangers() {
	var all []*limitedConn
	g.mu.Lock()
	for e := g.strangers.Front(); e != nil; e = e.Next() {
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
	// Under the limiter's lock:
	among *list.List    // the strangers or the known; nil: it has no place any more
	place *list.Element // in that list
}

// Read implements [net.Conn].
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.isKnown() {
		c.vouch() // it is not idle
	}
	return n, err
}

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	c.limiter.mu.Lock()
	c.move(nil)
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// vouch makes the connection known, and the one of these that was active last.
func (c *limitedConn) vouch() {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if c.among != nil {
		c.move(&c.limiter.known)
	}
}

// move puts the connection at the end of a list; nil takes its place away.
func (c *limitedConn) move(to *list.List) {
	if c.among != nil {
		c.among.Remove(c.place)
	}
	if c.among = to; to != nil {
		c.place = to.PushBack(c)
	}
}

func (c *limitedConn) isKnown() bool {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	return c.among == &c.limiter.known
}

type connectionKey struct{}

// withConnection stores in ctx which connection a request came over.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if held, is := c.(*limitedConn); is {
		return context.WithValue(ctx, connectionKey{}, held)
	}
	return ctx
}

// vouchFor records that a valid token or a new signed event came over a request's connection.
func vouchFor(ctx context.Context) {
	if c, is := ctx.Value(connectionKey{}).(*limitedConn); is {
		c.vouch()
	}
}

// isKnownConnection reports whether the connection of a request is known.
func isKnownConnection(ctx context.Context) bool {
	c, is := ctx.Value(connectionKey{}).(*limitedConn)
	return is && c.isKnown()
}
