package relay

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
)

const (
	maxConnections = 8192 // of a listener
	// smallBody is how large a body may be, in bytes, before its connection counts among the maxLarge: so many strangers
	// at once may send one of up to MaxBody.
	smallBody = 16 << 10
	maxLarge  = 128
	// spareDescriptors is how many connections make room once this process may open no more files: the journal opens
	// some, too.
	spareDescriptors = 8
)

// places is a listener whose connections hold a place each. A connection is a stranger's until a valid token or a new
// signed event has come over it: a delivery that was captured can be repeated by anyone. When all places are taken,
// the stranger that came first makes room for a new connection. If strangers have less than half of the places, of the
// others the one idle longest does. So nobody who takes all places keeps a sender out.
type places struct {
	net.Listener
	logger *slog.Logger
	closed func() // called for each connection that made room

	mu        sync.Mutex
	limit     int
	strangers list.List // of *placed, in order of arrival
	large     list.List // of *placed, the strangers with a large body, in order of its arrival
	known     list.List // of *placed, the one idle longest first
}

func newPlaces(ln net.Listener, logger *slog.Logger, closed func()) *places {
	return &places{Listener: ln, logger: logger, closed: closed, limit: maxConnections}
}

// Accept implements [net.Listener].
func (p *places) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		p.logger.Error("no more files can be opened: connections make room for new ones; raise the limit (ulimit -n)")
		for range spareDescriptors {
			p.close(p.least())
		}
	}
	if err != nil {
		return nil, err // the server tries again
	}
	p.mu.Lock()
	full := p.strangers.Len()+p.large.Len()+p.known.Len() >= p.limit
	p.mu.Unlock()
	if full {
		p.close(p.least())
	}
	admitted := &placed{Conn: c, places: p}
	admitted.move(&p.strangers)
	return admitted, nil
}

// least returns the connection that makes room first; nil if there is none.
func (p *places) least() *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known.Len() > p.strangers.Len()+p.large.Len() {
		return p.known.Front()
	}
	if p.strangers.Len() > 0 {
		return p.strangers.Front()
	}
	return p.large.Front()
}

// close closes a connection to make room.
func (p *places) close(least *list.Element) {
	if least != nil {
		_ = least.Value.(*placed).Close() // the connection is lost either way
		p.closed()
	}
}

// closeStrangers closes the connections of strangers.
func (p *places) closeStrangers() {
	var all []*placed
	p.mu.Lock()
	for _, some := range []*list.List{&p.strangers, &p.large} {
		for e := some.Front(); e != nil; e = e.Next() {
			all = append(all, e.Value.(*placed))
		}
	}
	p.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// placed is a connection that holds a place.
type placed struct {
	net.Conn
	places *places
	// Under the lock of the places:
	among   *list.List    // nil: it has no place yet, or no longer
	element *list.Element // in that list
	left    bool
}

// Read implements [net.Conn].
func (c *placed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	if c.among == &c.places.known {
		c.among.MoveToBack(c.element) // it is not idle
	}
	return n, err
}

// Close closes the connection and frees its place.
func (c *placed) Close() error {
	c.move(nil)
	return c.Conn.Close()
}

// move puts the connection at the end of a list; nil takes its place away for good.
func (c *placed) move(to *list.List) {
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	if c.among != nil {
		c.among.Remove(c.element)
	}
	c.left = c.left || to == nil
	if c.among = to; c.left {
		c.among = nil
		return
	}
	c.element = to.PushBack(c)
}

type placeKey struct{}

// withPlace stores in ctx which connection a request came over.
func withPlace(ctx context.Context, c net.Conn) context.Context {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, placeKey{}, c)
}

// vouchFor records that a valid token or a new signed event came over a request's connection.
func vouchFor(ctx context.Context) {
	if c, is := ctx.Value(placeKey{}).(*placed); is {
		c.move(&c.places.known)
	}
}

// holdLarge counts a request's connection among those with a large body, unless it is known. The first of too many
// is closed.
func holdLarge(ctx context.Context) {
	c, is := ctx.Value(placeKey{}).(*placed)
	if !is {
		return
	}
	p := c.places
	p.mu.Lock()
	known, first := c.among == &p.known, (*list.Element)(nil)
	if !known && c.among != &p.large && p.large.Len() >= maxLarge {
		first = p.large.Front()
	}
	p.mu.Unlock()
	p.close(first)
	if !known {
		c.move(&p.large)
	}
}
