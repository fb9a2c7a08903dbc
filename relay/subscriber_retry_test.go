package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
