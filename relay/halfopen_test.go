package relay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// noticedWithin bounds how long either side takes a connection for good that
// carries nothing any more.
const noticedWithin = 35 * time.Second

// cable is a subscriber's end of a connection that, once it is cut, swallows what
// either side sends, its close included: neither is told.
type cable struct {
	net.Conn
	cut     chan struct{}
	drained sync.WaitGroup
}

func (c *cable) isCut() bool {
	select {
	case <-c.cut:
		return true
	default:
		return false
	}
}

func (c *cable) Write(p []byte) (int, error) {
	if c.isCut() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cable) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.isCut() {
			return n, err
		}
	}
}

func (c *cable) Close() error {
	if !c.isCut() {
		return c.Conn.Close()
	}
	c.drained.Go(func() {
		_ = c.Conn.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, c.Conn) // until the other side gives up
		_ = c.Conn.Close()
	})
	return nil
}

func TestBothSidesNoticeAConnectionThatIsHalfOpen(t *testing.T) {
	for range 20 { // at other moments between two heartbeats
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			r := newTestRelay(t, memory, nil)
			n := serveRelay(t, r)
			cut := make(chan struct{})
			var last *cable
			s := subscribe(t, n, func(cfg *SubscriberConfig) {
				cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					if last != nil {
						return nil, errors.New("there is no way")
					}
					c, err := n.dial(ctx, kind, address)
					last = &cable{Conn: c, cut: cut}
					return last, err
				}
			})
			c := newCollector()
			stop := run(t, s, c)
			c.awaitState(t, Live)
			<-time.After(rand.N(4 * defaultHeartbeat))
			synctest.Wait()
			if r.Streams() != 1 || s.Status().State != Live {
				t.Fatalf("%d streams, %s before the cut", r.Streams(), s.Status().State)
			}
			began := time.Now()
			close(cut)
			fill(t, memory, 1, rand.IntN(2)) // the relay may have something to send
			if waited := c.awaitState(t, Lost).Since.Sub(began); waited > noticedWithin || waited == 0 {
				t.Errorf("the subscriber noticed after %v", waited)
			}
			stop()
			<-time.After(time.Until(began.Add(noticedWithin)))
			synctest.Wait()
			if r.Streams() != 0 {
				t.Errorf("the relay has not noticed after %v", noticedWithin)
			}
			last.drained.Wait()
		})
	}
}
