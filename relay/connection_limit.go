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

// gate is a listener that holds at most limit connections. A connection is a
// stranger until a valid signature or token has come over it. While all places
// are taken, a newcomer takes that of the stranger who came first, so that
// strangers, however many, never keep the sender out. Nor do those who have a
// token: beyond half of the places they stay strangers.
type gate struct {
	net.Listener
	limit   int
	expired func() // called for each stranger who was shown out

	mu        sync.Mutex
	held      int
	readers   int           // guests who are known by a token alone
	strangers list.List     // of *guest, in the order of their coming
	freed     chan struct{} // of one: a place may be free
	once      sync.Once
	closed    chan struct{}
}

func newGate(ln net.Listener, limit int, expired func()) *gate {
	return &gate{Listener: ln, limit: limit, expired: expired, freed: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for a place only while every connection is a known one.
func (g *gate) Accept() (net.Conn, error) {
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
			g.expired()
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

// admit gives c a place; when there is none, it names the stranger who came
// first, if there is one.
func (g *gate) admit(c net.Conn) (admitted, oldest *guest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held < g.limit {
		g.held++
		admitted = &guest{Conn: c, gate: g}
		admitted.place = g.strangers.PushBack(admitted)
		return admitted, nil
	}
	if first := g.strangers.Front(); first != nil {
		return nil, first.Value.(*guest)
	}
	return nil, nil
}

// Close stops accepting. Connections that are open stay.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// guest is a connection that holds a place.
type guest struct {
	net.Conn
	gate *gate
	once sync.Once
	// Under the gate's lock:
	place  *list.Element // among the strangers; nil once it is known
	reader bool          // it is known by a token alone
}

// Close gives the place back.
func (c *guest) Close() error {
	c.once.Do(func() {
		c.known()
		c.gate.mu.Lock()
		c.gate.held--
		if c.reader {
			c.gate.readers--
		}
		c.gate.mu.Unlock()
		select {
		case c.gate.freed <- struct{}{}:
		default:
		}
	})
	return c.Conn.Close()
}

// known takes the connection off the list of strangers.
func (c *guest) known() {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.leaveStrangers()
}

// knownReader does so while readers have less than half of the places.
func (c *guest) knownReader() {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.place != nil && c.gate.readers < c.gate.limit/2 {
		c.leaveStrangers()
		c.reader = true
		c.gate.readers++
	}
}

func (c *guest) leaveStrangers() {
	if c.place != nil {
		c.gate.strangers.Remove(c.place)
		c.place = nil
	}
}

func (c *guest) isKnown() bool {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return c.place == nil
}

type guestKey struct{}

// withGuest notes in ctx which connection a request came over.
func withGuest(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if g, is := c.(*guest); is {
		return context.WithValue(ctx, guestKey{}, g)
	}
	return ctx
}

// vouch makes the connection of a request a known one: a valid signature has come
// over it.
func vouch(ctx context.Context) {
	if g, is := ctx.Value(guestKey{}).(*guest); is {
		g.known()
	}
}

// vouchReader makes the connection of a request a known one: a valid token has come
// over it.
func vouchReader(ctx context.Context) {
	if g, is := ctx.Value(guestKey{}).(*guest); is {
		g.knownReader()
	}
}

// vouched reports whether the connection of a request is a known one.
func vouched(ctx context.Context) bool {
	g, is := ctx.Value(guestKey{}).(*guest)
	return is && g.isKnown()
}
