package relay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
)

// tap is a connection that gives nothing to read from when it is shut until it
// is opened again.
type tap struct {
	net.Conn
	shut, open <-chan struct{}
}

func (c *tap) Read(p []byte) (int, error) {
	select {
	case <-c.shut:
		<-c.open
	default:
	}
	return c.Conn.Read(p)
}

// counting is a handler that keeps nothing but the number of the last event.
type counting struct {
	t    *testing.T
	last int64
	came time.Time // when it did
}

func (c *counting) Events(_ context.Context, batch []Item) error {
	for _, item := range batch {
		c.count(item.Seq)
	}
	return nil
}

func (c *counting) Status(Status) {}

func (c *counting) count(seq int64) {
	if seq != c.last+1 {
		c.t.Errorf("event %d came after %d", seq, c.last)
	}
	c.last, c.came = seq, time.Now()
}

// countFrames counts events so large that each has a frame, until p is closed. It
// decodes nothing else of them.
func (c *counting) countFrames(p *peer) {
	beginning := make([]byte, len(eventsPrefix)+20)
	for {
		_, frame, err := p.socket.NextReader()
		if err != nil {
			return
		}
		n, _ := io.ReadFull(frame, beginning) // a frame may be shorter
		if item, is := bytes.CutPrefix(beginning[:n], eventsPrefix); is {
			var seq int64
			if _, err := fmt.Sscanf(string(item), `{"seq":%d,`, &seq); err != nil {
				c.t.Error(err)
			}
			c.count(seq)
		}
		if _, err := io.Copy(io.Discard, frame); err != nil {
			return
		}
	}
}

func TestStalledSubscribersHoldNoOneBackTakeNoMemoryAndLoseNothing(t *testing.T) {
	const (
		stalled, healthy = 10, 50
		size             = 64 << 10 // of an event
		before, flood    = tailBytes / size, 8
		limit            = 5 << 20 // less than a queue for each of the stalled would take
	)
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		n := serveRelay(t, r)
		put := func(from, to int) {
			for i := from; i <= to; i++ {
				body := append(eventBody(i), bytes.Repeat([]byte(" "), size)...)
				if _, err := memory.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(i), Origin: journal.Webhook, Body: body}}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		var tasks sync.WaitGroup
		var watched []*counting
		follow := func(count int) {
			for range count {
				c := &counting{t: t, last: headOf(t, memory)}
				watched = append(watched, c)
				p := connect(t, n, helloAt(fmt.Sprintf("epoch:%d", c.last)))
				tasks.Go(func() { c.countFrames(p) })
			}
			synctest.Wait()
		}
		follow(1)
		put(1, before) // the tail is full
		follow(healthy - 1)
		shut, open := make(chan struct{}), make(chan struct{})
		var stops []func()
		for range stalled {
			c := &counting{t: t, last: before}
			watched = append(watched, c)
			stops = append(stops, run(t, subscribe(t, n, func(cfg *SubscriberConfig) {
				cfg.Cursor = fmt.Sprintf("epoch:%d", c.last)
				cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					c, err := n.dial(ctx, kind, address)
					return &tap{c, shut, open}, err
				}
			}), c))
		}
		synctest.Wait()
		if r.hub.open() != healthy+stalled {
			t.Fatalf("%d streams are open", r.hub.open())
		}
		close(shut)
		occupied := heap()
		began := time.Now()
		put(before+1, before+flood)
		for _, c := range watched[:healthy] {
			if c.last != before+flood || c.came != began {
				t.Fatalf("a healthy one has event %d after %v", c.last, c.came.Sub(began))
			}
		}
		stored := int64(flood * (size + len(eventBody(1))))
		grown := heap() - occupied - stored
		if grown > limit {
			t.Errorf("the heap has grown by %d bytes beside what is stored", grown)
		}
		t.Logf("the heap has grown by %d bytes beside the %d that are stored", grown, stored)
		<-time.After(writeTimeout)
		synctest.Wait()
		if r.hub.open() != healthy {
			t.Errorf("%d streams are open, want those of the %d healthy ones", r.hub.open(), healthy)
		}
		close(open)
		<-time.After(time.Minute)
		synctest.Wait()
		for _, c := range watched[healthy:] {
			if c.last != before+flood {
				t.Errorf("a stalled one that resumes has event %d of %d", c.last, before+flood)
			}
		}
		for _, stop := range stops {
			stop()
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		tasks.Wait()
	})
}
