package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/relay/journal"
)

const (
	// tailBatch bounds the events added to the ring at once.
	tailBatch = 512
	// tailRetry is the pause after the journal could not be read.
	tailRetry = time.Second
)

var (
	errStreamsFull = errors.New("too many streams are open")
	errClosing     = errors.New("the relay is shutting down")
)

// hub holds the open connections. While there are any, one goroutine follows the journal and fills their shared
// ring, and another fetches the observations that other relays received.
type hub struct {
	journal    *watched
	observing  *observing
	signatures *signatureMonitor
	logger     *slog.Logger
	limit      int
	frames     *bodyMemory // of large events on their way to connections that are behind

	closing chan struct{} // closed by shutdown
	tasks   sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	crowd       int // connections when the shutdown began
	reserved    int // connections, including those still to be upgraded
	connections map[*connection]struct{}
	ring        *ring // of the running follower; nil while there is none
	stop        context.CancelFunc
	soon        *time.Timer // rouses the connections; nil unless requested
}

func newHub(j *watched, o *observing, logger *slog.Logger, limit int) *hub {
	return &hub{
		journal:     j,
		observing:   o,
		logger:      logger,
		limit:       limit,
		frames:      newBodyMemory(frameMemorySize),
		closing:     make(chan struct{}),
		connections: map[*connection]struct{}{},
	}
}

// reserve makes room for one connection. Each success must be followed by a release.
func (h *hub) reserve(ctx context.Context) error {
	if joined, err := h.join(nil); joined || err != nil {
		return err
	}
	epoch := h.journal.Epoch()
	head, err := h.journal.Head(ctx) // not locked: a database may take its time
	if err != nil {
		return fmt.Errorf("read the head of the journal: %w", err)
	}
	_, err = h.join(newRing(epoch, head))
	return err
}

// join adds a connection to the running follower. If there is none, it starts one that fills fresh, or does nothing if
// fresh is nil.
func (h *hub) join(fresh *ring) (joined bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return false, errClosing
	case h.reserved >= h.limit:
		return false, errStreamsFull
	case h.ring == nil && fresh == nil:
		return false, nil
	case h.ring == nil:
		following, stop := context.WithCancel(context.Background())
		h.ring, h.stop = fresh, stop
		h.tasks.Go(func() { h.follow(following, fresh) })
	}
	h.reserved++
	h.tasks.Add(1)
	return true, nil
}

func (h *hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reserved--
	if h.reserved == 0 {
		h.stop()
		h.ring, h.stop = nil, nil
	}
	h.tasks.Done()
}

// enter adds an upgraded connection. It returns the ring to read from, which stays until the connection is
// released.
func (h *hub) enter(c *connection) *ring {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connections[c] = struct{}{}
	return h.ring
}

func (h *hub) leave(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.connections, c)
}

// rouse has every connection check for work other than events.
func (h *hub) rouse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.soon = nil
	for c := range h.connections {
		c.rouse()
	}
}

// rouseSoon does so shortly, once for all requests until then: many reporters cause no more frames than one.
func (h *hub) rouseSoon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.soon == nil && !h.closed {
		h.soon = time.AfterFunc(observationPause, h.rouse)
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
		if c.begun.Load() {
			lag = max(lag, head-c.cursor.Load())
		}
	}
	return lag
}

// shutdown has every connection say bye and waits for them. If ctx ends first, it cuts them off.
func (h *hub) shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		h.crowd = len(h.connections)
		close(h.closing)
		if h.soon != nil {
			h.soon.Stop()
		}
		for c := range h.connections {
			c.rouse()
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
	h.cut()
	<-ended
	return fmt.Errorf("some streams were cut off: %w", ctx.Err())
}

// expel ends the connections for which goes returns true. It does not wait for them.
func (h *hub) expel(goes func(*connection) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.connections { // each holds a task, so more may be added
		if goes(c) {
			c.expelled.Store(true)
			h.tasks.Go(func() {
				c.close(closeUnauthorized, tokenEnded)
				_ = c.socket.Close()
			})
		}
	}
}

func (h *hub) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.connections {
		_ = c.socket.Close()
	}
}

// follow fills the ring until ctx ends.
func (h *hub) follow(ctx context.Context, shared *ring) {
	_ = untilDone(ctx, tailRetry, func() error {
		for ctx.Err() == nil {
			if err := h.fill(ctx, shared); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		h.logger.Error("the stream cannot read the journal", slog.String("error", err.Error()))
	})
}

// untilDone repeats work with pauses until it succeeds or ctx ends, and calls report with each error.
func untilDone(ctx context.Context, pause time.Duration, work func() error, report func(error)) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, work() },
		backoff.WithBackOff(backoff.NewConstantBackOff(pause)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { report(err) }))
	return err
}

func (h *hub) fill(ctx context.Context, shared *ring) (err error) {
	defer journal.Recovered(&err)
	if epoch := h.journal.Epoch(); !shared.of(epoch) {
		return h.renew(ctx, shared, epoch)
	}
	if err := h.journal.Wait(ctx, shared.head); errors.Is(err, journal.ErrEpoch) {
		return nil
	} else if err != nil {
		return err
	}
	records, err := h.journal.Read(ctx, shared.head, tailBatch)
	if err != nil {
		return err
	}
	events, err := encodeAll(records)
	if err != nil {
		return err
	}
	return shared.add(events)
}

// renew restarts the ring after the head of a new epoch. Connections of the old epoch end, and their subscribers
// start over.
func (h *hub) renew(ctx context.Context, shared *ring, epoch string) error {
	head, err := h.journal.Head(ctx)
	if err != nil {
		return err
	}
	from, to := h.journal.lost()
	logLoss(h.logger, from, to, epoch)
	shared.renew(epoch, head)
	return nil
}
