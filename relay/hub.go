package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"

	"tillwatch/relay/journal"
)

// tailPause is how long the journal is left alone after it could not be followed.
const tailPause = time.Second

var (
	errStreamsFull = errors.New("too many streams are open")
	errClosing     = errors.New("the relay is shutting down")
)

// hub holds the open connections. While there are any, one goroutine follows the journal for them.
type hub struct {
	journal      journal.Journal
	observations *observations
	signatures   *wrongSignatures
	logger       *slog.Logger
	limit        int

	closing chan struct{} // closed by shutdown
	now     chan struct{} // closed: for those with nothing to wait for
	buffers sync.Pool     // of *bytes.Buffer, for frames
	tasks   sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	crowd       int // connections when the shutdown began
	reserved    int // connections, including those still to be upgraded
	connections map[*connection]struct{}
	tail        *tail // for new connections
	stop        context.CancelFunc
	soon        *time.Timer // wakes the connections; nil unless requested
}

func newHub(j journal.Journal, o *observations, logger *slog.Logger, limit int) *hub {
	h := &hub{
		journal: j, observations: o, logger: logger, limit: limit,
		closing: make(chan struct{}), now: make(chan struct{}), connections: map[*connection]struct{}{},
	}
	close(h.now)
	h.buffers.New = func() any { return new(bytes.Buffer) }
	return h
}

// reserve makes room for one connection. Each success must be followed by a release.
func (h *hub) reserve() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errClosing
	case h.reserved >= h.limit:
		return errStreamsFull
	case h.reserved == 0:
		following, stop := context.WithCancel(context.Background())
		first := newTail()
		h.tail, h.stop = first, stop
		h.tasks.Go(func() { h.follow(following, first) })
	}
	h.reserved++
	h.tasks.Add(1)
	return nil
}

func (h *hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reserved--; h.reserved == 0 {
		h.stop()
	}
	h.tasks.Done()
}

// follow keeps a tail until ctx ends. One that ends sooner has a successor for the connections to come: those of the
// old one begin again at their cursors, so that each is compared with the journal.
func (h *hub) follow(ctx context.Context, t *tail) {
	for {
		err := t.follow(ctx, h.journal)
		if ctx.Err() != nil {
			return
		}
		h.logger.Error("the stream cannot follow the journal", slog.String("error", err.Error()))
		t = newTail()
		h.mu.Lock()
		if ctx.Err() == nil { // otherwise the tail is that of a newer follower
			h.tail = t
		}
		h.mu.Unlock()
		if api.Sleep(ctx, tailPause) != nil {
			return
		}
	}
}

// add adds an upgraded connection, and returns the tail that it reads.
func (h *hub) add(c *connection) *tail {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connections[c] = struct{}{}
	return h.tail
}

func (h *hub) remove(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.connections, c)
}

// wake has every connection look for work other than events.
func (h *hub) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.soon = nil
	for c := range h.connections {
		c.wake()
	}
}

// wakeSoon does so shortly, once for all requests until then: many reporters cause no more frames than one.
func (h *hub) wakeSoon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.soon == nil && !h.closed {
		h.soon = time.AfterFunc(observationPause, h.wake)
	}
}

// open returns the number of connections.
func (h *hub) open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.connections)
}

// returning returns how many subscribers may reconnect at once.
func (h *hub) returning() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.crowd, len(h.connections))
}

// lag returns how many events the slowest connection is behind head.
func (h *hub) lag(head int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	lag := int64(0)
	for c := range h.connections {
		if seq := c.seq.Load(); seq >= 0 {
			lag = max(lag, head-seq)
		}
	}
	return lag
}

// shutdown has every connection say bye and waits for them. If ctx ends first, it cuts them off.
func (h *hub) shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed, h.crowd = true, len(h.connections)
		close(h.closing)
		if h.soon != nil {
			h.soon.Stop()
		}
		for c := range h.connections {
			c.wake()
		}
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		h.tasks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	h.mu.Lock()
	for c := range h.connections {
		_ = c.socket.Close()
	}
	h.mu.Unlock()
	<-ended
	return fmt.Errorf("some streams were cut off: %w", ctx.Err())
}

// endUnadmitted ends the connections whose token is no longer valid. It does not wait for them.
func (h *hub) endUnadmitted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.connections { // each holds a task, so more may be added
		if !c.admitted() {
			c.unadmitted.Store(true)
			h.tasks.Go(func() {
				c.close(closeUnauthorized, tokenEnded)
				_ = c.socket.Close()
			})
		}
	}
}

// untilDone repeats work with pauses until it succeeds or ctx ends, and calls report with each error.
func untilDone(ctx context.Context, pause time.Duration, work func() error, report func(error)) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, work() },
		backoff.WithBackOff(backoff.NewConstantBackOff(pause)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { report(err) }))
	return err
}
