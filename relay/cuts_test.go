package relay

import (
	"context"
	"flag"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The long form of the test that cuts connections:
//
//	go test ./relay -run Cut -cuts-for 60s -v
var cutsFor = flag.Duration("cuts-for", time.Second/2, "how long connections are cut at random")

const (
	cutRate        = 500 // events a second
	cutSubscribers = 20
	cutEarliest    = 50 * time.Millisecond
	cutLatest      = 500 * time.Millisecond
)

// listening serves r on a loopback socket until the test ends.
func listening(t testing.TB, r *Relay) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return listener.Addr().String()
}

// posting posts the events from 1 on at rate until d has passed, and returns how
// many there were. Those that the clock has skipped are made up for.
func posting(t *testing.T, h http.Handler, rate int, d time.Duration) int {
	t.Helper()
	const tick = 5 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	posted, due := 0, 0
	for began := time.Now(); due < int(d.Seconds()*float64(rate)); {
		<-ticker.C
		due = int(min(time.Since(began), d).Seconds() * float64(rate))
		deliver(t, h, posted+1, due)
		posted = due
	}
	return posted
}

func TestEverySubscriberGetsEachEventOnceWhileConnectionsAreCutAtRandom(t *testing.T) {
	t.Parallel()
	r := newTestRelay(t, newMemory(t), nil)
	address := listening(t, r)
	var cuts atomic.Int64
	dialUntilCut := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			time.AfterFunc(cutEarliest+rand.N(cutLatest-cutEarliest), func() {
				cuts.Add(1)
				_ = c.Close()
			})
		}
		return c, err
	}
	var whole atomic.Bool // no cuts any more
	var collectors []*collector
	for range cutSubscribers {
		c := newCollector()
		collectors = append(collectors, c)
		run(t, newTestSubscriber(t, SubscriberConfig{
			URL: "http://" + address,
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				if whole.Load() {
					return new(net.Dialer).DialContext(ctx, network, address)
				}
				return dialUntilCut(ctx, network, address)
			},
		}), c)
	}
	events := posting(t, r.Ingest(), cutRate, *cutsFor)
	whole.Store(true)
	for _, c := range collectors {
		expectRow(t, c.awaitItems(t, events), 1, int64(events))
	}
	if least := int64(cutSubscribers) * int64(*cutsFor/(2*cutLatest)); cuts.Load() < least {
		t.Errorf("%d cuts prove less than %d", cuts.Load(), least)
	}
	t.Logf("%d events to each of %d subscribers through %d cuts", events, cutSubscribers, cuts.Load())
}

// The long form of the test of joiners:
//
//	go test ./relay -race -run Joiners -joiners-for 10s -v
var joinersFor = flag.Duration("joiners-for", 150*time.Millisecond, "how long subscribers join a stream of 2,000 events a second")

func TestJoinersDuringAFloodSeeNoHoleAndNoDouble(t *testing.T) {
	const rate, joiners = 2000, 100
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	n := serveRelay(t, r)
	last := int64(joinersFor.Seconds() * rate)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	collectors, began := make([]*collector, joiners), make([]int64, joiners)
	for i := range joiners {
		collectors[i] = newCollector()
		tasks.Go(func() {
			join := int64(i) * last / joiners
			if err := memory.Wait(context.Background(), join-1); err != nil {
				t.Error(err)
				return
			}
			began[i] = rand.N(join + 1) // some way back, or at the head
			s := subscribe(t, n, func(cfg *SubscriberConfig) { cfg.Cursor = cursor{epoch: "epoch", seq: began[i]}.String() })
			run(t, s, collectors[i])
		})
	}
	events := posting(t, r.Ingest(), rate, *joinersFor)
	tasks.Wait()
	for i, c := range collectors {
		expectRow(t, c.awaitItems(t, events-int(began[i])), began[i]+1, int64(events))
	}
}
