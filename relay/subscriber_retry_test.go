package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetryTimes(t *testing.T) {
	var longests [40]time.Duration
	for range 500 {
		retries := newRetries(lastRetry)
		for attempt := range longests {
			wait := retryAfter(io.EOF, retries)
			if bound := min(firstRetry<<min(attempt, 20), lastRetry); wait < 0 || wait > bound {
				t.Fatalf("attempt %d waits %v, outside 0 to %v", attempt, wait, bound)
			}
			longests[attempt] = max(longests[attempt], wait)
		}
	}
	for attempt, longest := range longests {
		if bound := min(firstRetry<<min(attempt, 20), lastRetry); longest < bound/2 {
			t.Errorf("attempt %d never waited longer than %v of %v", attempt, longest, bound)
		}
	}
	for _, test := range []struct {
		name             string
		retry            []int64
		earliest, latest time.Duration
	}{
		{"a range", []int64{500, 600}, 500 * time.Millisecond, 600 * time.Millisecond},
		{"a range the wrong way round", []int64{600, 500}, 600 * time.Millisecond, 600 * time.Millisecond},
		{"too long", []int64{1 << 60, 1 << 62}, maxRetryWait, maxRetryWait},
		{"negative", []int64{-5, -1}, 0, 0},
		{"none", nil, firstRetry, lastRetry},
		{"half a range", []int64{5}, firstRetry, lastRetry},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 200 {
				wait := retryAfter(byeOf(byeFrame{RetryMS: test.retry}), newRetries(lastRetry))
				if wait < test.earliest || wait > test.latest {
					t.Fatalf("waits %v, outside %v to %v", wait, test.earliest, test.latest)
				}
			}
		})
	}
	if wait := retryAfter(fmt.Errorf("read: %w", errWoken), newRetries(lastRetry)); wait != 0 {
		t.Errorf("after a sleep of the machine: waits %v", wait)
	}
}

func TestAWokenMachineConnectsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := serveRelay(t, newTestRelay(t, newMemory(t), nil))
		s := subscribe(t, n, nil)
		c := newCollector()
		woken := make(chan struct{}, 1)
		ended := make(chan error, 1)
		go func() { ended <- s.session(t.Context(), c, woken) }()
		c.awaitState(t, Live)
		woken <- struct{}{}
		if err := <-ended; !errors.Is(err, errWoken) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func TestAnAttemptThatIsAskedForComesNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		attempted, refuse := make(chan struct{}), make(chan struct{})
		s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			attempted <- struct{}{}
			<-refuse
			return nil, io.ErrUnexpectedEOF
		}})
		s.Retry() // before the first attempt, for nothing
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, newCollector()) }()
		<-attempted
		for range 20 {
			refuse <- struct{}{}
			synctest.Wait() // the pause before the next attempt
			select {
			case <-attempted:
				t.Fatal("an attempt came without being asked for")
			default:
			}
			began := time.Now()
			s.Retry()
			<-attempted
			if waited := time.Since(began); waited != 0 {
				t.Fatalf("the attempt came %v after it was asked for, want at once", waited)
			}
			for range 3 { // while an attempt is under way, for nothing
				s.Retry()
			}
		}
		refuse <- struct{}{}
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhatCountsAsSleep(t *testing.T) {
	for _, test := range []struct {
		name            string
		monotonic, wall time.Duration
		slept           bool
	}{
		{"a tick on time", time.Second, time.Second, false},
		{"a late tick", 4 * time.Second, 4 * time.Second, false},
		{"a stopped process", time.Minute, time.Minute, true},
		{"a machine asleep", time.Second, time.Hour, true},
		{"a clock that was set back", time.Second, -time.Hour, false},
		{"a clock that was corrected", time.Second, 2 * time.Second, false},
	} {
		if got := slept(test.monotonic, test.wall); got != test.slept {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// Whoever restarts a relay while developing must not wait for its followers.
func TestARelayOnThisMachineIsTriedAgainEverySecond(t *testing.T) {
	for address, longest := range map[string]time.Duration{"http://127.0.0.1": lastRetryHere, "http://[::1]:7430": lastRetryHere, "https://relay.example": lastRetry} {
		synctest.Test(t, func(t *testing.T) {
			refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }
			s, c := newTestSubscriber(t, SubscriberConfig{URL: address, Dial: refuse}), newCollector()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			if err := s.Run(ctx, c); err != nil {
				t.Fatal(err)
			}
			var waited time.Duration
			for _, status := range c.statuses {
				waited = max(waited, status.RetryIn)
			}
			if waited > longest || waited < longest/2 {
				t.Errorf("%s is tried again after %v at most, want up to %v", address, waited, longest)
			}
		})
	}
}

func dialForEver(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The end of a bubble waits for each of its goroutines, so that one that stays
// fails the test.
func TestASubscriberEndsAtOnceInEveryState(t *testing.T) {
	const times = 100
	fails := func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }
	events := func(p *peer) {
		for seq := int64(1); ; seq++ {
			item := wireItem{Seq: seq, ID: "evt", Type: "a", Raw: eventBody(int(seq))}
			if p.socket.WriteJSON(map[string]any{"t": frameEvents, "items": []wireItem{item}}) != nil {
				return
			}
			<-time.After(rand.N(time.Millisecond))
		}
	}
	for _, test := range []struct {
		name   string
		state  StreamState
		dial   func(context.Context, string, string) (net.Conn, error)
		script func(p *peer, _ int)
	}{
		{name: "dialling", state: Dialling, dial: dialForEver},
		{name: "in a handshake that stalls", state: Dialling, dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }() // until the other end is closed
			return here, nil
		}},
		{name: "waiting for a welcome", state: Dialling, script: func(p *peer, _ int) { _ = p.closed() }},
		{name: "backing off", state: Lost, dial: fails},
		{name: "replaying", state: Replaying, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			events(p)
		}},
		{name: "live", state: Live, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			p.send(liveFrame{T: frameLive, Cursor: "epoch:0"})
			_ = p.closed()
		}},
		{name: "live under load", state: Live, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			p.send(liveFrame{T: frameLive, Cursor: "epoch:0"})
			events(p)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := test.dial
				if dial == nil {
					dial = actor(t, test.script).dial
				}
				for range times {
					c := newCollector()
					stop := run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: dial}), c)
					c.awaitState(t, test.state)
					<-time.After(rand.N(5 * time.Millisecond))
					began := time.Now()
					stop()
					if waited := time.Since(began); waited != 0 {
						t.Errorf("ended after %v", waited)
					}
				}
				<-time.After(time.Second) // the actor notices
			})
		})
	}
}

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
			if r.hub.open() != 1 || s.Status().State != Live {
				t.Fatalf("%d streams, %s before the cut", r.hub.open(), s.Status().State)
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
			if r.hub.open() != 0 {
				t.Errorf("the relay has not noticed after %v", noticedWithin)
			}
			last.drained.Wait()
		})
	}
}
