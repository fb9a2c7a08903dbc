package relay

import (
	"context"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
)

// collector is a handler that keeps what it gets.
type collector struct {
	mu       sync.Mutex
	items    []Item
	statuses []Status
	changed  chan struct{} // closed at each call
}

func newCollector() *collector { return &collector{changed: make(chan struct{})} }

func (c *collector) Events(_ context.Context, batch []Item) error {
	c.update(func() { c.items = append(c.items, batch...) })
	return nil
}

func (c *collector) Status(s Status) {
	c.update(func() { c.statuses = append(c.statuses, s) })
}

func (c *collector) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until done is true of what was collected: so long that a subscriber
// whose connections break a dozen times in a row is there again.
func (c *collector) await(t testing.TB, what string, done func() bool) {
	t.Helper()
	limit := time.After(5 * time.Minute)
	for {
		c.mu.Lock()
		ok, changed := done(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (c *collector) awaitItems(t testing.TB, n int) []Item {
	t.Helper()
	c.await(t, "events", func() bool { return len(c.items) >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items
}

// awaitState waits for a status in state, and returns the first.
func (c *collector) awaitState(t testing.TB, state StreamState) Status {
	t.Helper()
	var found Status
	c.await(t, string(state), func() bool {
		for _, s := range c.statuses {
			if s.State == state {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// expectRow checks that items are exactly the sequence numbers from and to.
func expectRow(t testing.TB, items []Item, from, to int64) {
	t.Helper()
	if int64(len(items)) != to-from+1 {
		t.Errorf("%d events, want %d", len(items), to-from+1)
	}
	for i, item := range items {
		if item.Seq != from+int64(i) {
			t.Fatalf("event %d of the row is %d, want %d", i, item.Seq, from+int64(i))
		}
	}
}

func newTestSubscriber(t testing.TB, cfg SubscriberConfig) *Subscriber {
	t.Helper()
	if cfg.Token.IsZero() {
		cfg.Token = api.NewSecret(testToken)
	}
	s, err := NewSubscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs s until the test ends or stop is called.
func run(t testing.TB, s *Subscriber, h Handler) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, h) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}
