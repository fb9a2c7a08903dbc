package relay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

func TestNothingIsLostOrDoubledAcrossARestartOfTheRelay(t *testing.T) {
	dir := t.TempDir()
	open := func() (journal.Journal, *Relay) {
		j, err := sqlite.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return j, newTestRelay(t, j, nil)
	}
	var mu sync.Mutex
	var current *network
	enter := func(n *network) {
		mu.Lock()
		defer mu.Unlock()
		current = n
	}
	dial := func(ctx context.Context, kind, address string) (net.Conn, error) {
		mu.Lock()
		n := current
		mu.Unlock()
		return n.dial(ctx, kind, address)
	}
	c := newCollector()
	s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: dial})
	for round := range 3 {
		j, r := open()
		deliver(t, r.Handler(), round*20+1, round*20+10) // while nobody listens
		n, stop := serveOn(t, r.Handler())
		enter(n)
		if round == 0 {
			run(t, s, c)
		}
		deliver(t, r.Handler(), round*20+5, round*20+20)
		expectRow(t, c.awaitItems(t, (round+1)*20), 1, int64(round+1)*20)
		stop()
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

type fragile struct {
	net.Conn
	left int
}

func (f *fragile) Read(p []byte) (int, error) {
	if f.left <= 0 {
		_ = f.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.Conn.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

func TestEverySubscriberGetsEachEventOnceThroughBrokenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const events, subscribers = 1000, 5
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		n := serveRelay(t, r)
		var all []*collector
		var stops []func()
		for range subscribers {
			s := subscribe(t, n, func(cfg *SubscriberConfig) {
				cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					c, err := n.dial(ctx, kind, address)
					if err != nil {
						return nil, err
					}
					return &fragile{c, 500 + rand.IntN(2*frameBytes)}, nil
				}
			})
			c := newCollector()
			all = append(all, c)
			stops = append(stops, run(t, s, c))
		}
		for i := 1; i <= events; i++ {
			deliver(t, r.Handler(), i, i)
			<-time.After(2 * time.Millisecond)
		}
		for i, c := range all {
			expectRow(t, c.awaitItems(t, events), 1, events)
			stops[i]()
			lost := 0
			for _, s := range c.statuses {
				if s.State == Lost {
					lost++
				}
			}
			if lost < 3 {
				t.Errorf("subscriber %d was cut off %d times, too few to prove anything", i, lost)
			}
		}
	})
}

type refusing struct {
	*collector
	failures int
}

func (r *refusing) Events(ctx context.Context, batch []Item) error {
	if r.failures > 0 {
		r.failures--
		return errors.New("disk full")
	}
	return r.collector.Events(ctx, batch)
}

func TestABatchThatWasNotHandledComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 10)
		n := serveRelay(t, newTestRelay(t, memory, nil))
		c := newCollector()
		stop := run(t, subscribe(t, n, nil), &refusing{c, 3})
		expectRow(t, c.awaitItems(t, 10), 1, 10)
		if lost := c.awaitState(t, Lost); !strings.Contains(lost.Err.Error(), "disk full") {
			t.Errorf("lost: %+v", lost)
		}
		stop()
	})
}
