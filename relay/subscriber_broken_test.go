package relay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
