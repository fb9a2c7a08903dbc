package relay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

// observations reads frames until n observations came.
func (p *peer) observations(n int) (all []quota.Observation, next string) {
	p.t.Helper()
	for len(all) < n {
		_, text, err := p.socket.ReadMessage()
		if err != nil {
			p.t.Fatalf("after %d observations: %v", len(all), err)
		}
		if len(text) > 2*frameBytes {
			p.t.Errorf("a frame has %d bytes", len(text))
		}
		f, err := readFrame(text)
		if err != nil {
			p.t.Fatal(err)
		}
		if f.T == frameObservations {
			all, next = append(all, f.observations.Items...), f.observations.Next
		}
	}
	return all, next
}

func expectObserved(t testing.TB, all []quota.Observation, from, to int) {
	t.Helper()
	if len(all) != to-from+1 {
		t.Fatalf("%d observations, want %d to %d", len(all), from, to)
	}
	for i, o := range all {
		if !reflect.DeepEqual(o, observed(from+i)) {
			t.Fatalf("where %d is due: %+v", from+i, o)
		}
	}
}

func TestWhatIsReportedReachesEveryStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		early := []*peer{connect(t, n, helloFrame{T: frameHello}), connect(t, n, helloFrame{T: frameHello, Types: []string{"shipment.*"}})}
		for _, p := range early {
			p.next(frameWelcome)
			p.next(frameLive)
		}
		expectTaken(t, r.Handler(), 1, 700, taken{Received: 700}) // more than a frame
		expectTaken(t, r.Handler(), 701, 800, taken{Received: 100})
		for _, p := range early {
			all, _ := p.observations(800)
			expectObserved(t, all, 1, 800)
		}
		late := connect(t, n, helloFrame{T: frameHello})
		all, next := late.observations(800)
		expectObserved(t, all, 1, 800)
		expectTaken(t, r.Handler(), 801, 802, taken{Received: 2})
		returning := connect(t, n, helloFrame{T: frameHello, Observed: next})
		all, _ = returning.observations(2)
		expectObserved(t, all, 801, 802)
	})
}

func TestManySmallBatchesMakeFewFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batches = 500
		// No batch comes in the very moment of a frame, when it may be in that one or the next.
		const apart = 1003 * time.Microsecond
		r := newTestRelay(t, newMemory(t), nil)
		p := connect(t, serveRelay(t, r), helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		began := time.Now()
		var reporting sync.WaitGroup
		reporting.Go(func() {
			for n := range batches {
				expectTaken(t, r.Handler(), n, n, taken{Received: 1})
				<-time.After(apart)
			}
		})
		frames, seen := 0, 0
		for seen < batches {
			seen += len(p.next(frameObservations).observations.Items)
			frames++
		}
		reporting.Wait()
		if took := time.Since(began); frames > 1+int(took/observationPause) || took > batches*apart+observationPause {
			t.Errorf("%d frames in %v", frames, took)
		}
	})
}

func TestABatchThatIsSentTwiceCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		p := connect(t, n, helloFrame{T: frameHello})
		expectTaken(t, r.Handler(), 1, 10, taken{Received: 10})
		expectTaken(t, r.Handler(), 1, 10, taken{Repeated: 10})
		expectTaken(t, r.Handler(), 6, 11, taken{Received: 1, Repeated: 5})
		all, _ := p.observations(11)
		expectObserved(t, all, 1, 11)
	})
}

func TestAStreamBeginsWithTheLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
		<-time.After(40 * time.Minute)
		expectTaken(t, r.Handler(), 6, 9, taken{Received: 4})
		<-time.After(30 * time.Minute)
		all, _ := connect(t, n, helloFrame{T: frameHello}).observations(4)
		expectObserved(t, all, 6, 9)
		for _, unknown := range []string{"nonsense", "-1", fmt.Sprint(position(time.Now().Add(time.Hour)))} {
			all, _ := connect(t, n, helloFrame{T: frameHello, Observed: unknown}).observations(4)
			expectObserved(t, all, 6, 9)
		}
	})
}

func TestAWelcomeSaysSinceWhenTheObservationsAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := serveRelay(t, newTestRelay(t, newMemory(t), nil))
		since := func(observed string) time.Time {
			return connect(t, n, helloFrame{T: frameHello, Observed: observed}).next(frameWelcome).Since
		}
		<-time.After(40 * time.Minute)
		if got := since(""); !got.Equal(began) {
			t.Errorf("whole since %v of a relay that began at %v", got, began)
		}
		if got := since(noObservations); !got.IsZero() {
			t.Errorf("whole since %v for one who wants none", got)
		}
		<-time.After(21 * time.Minute)
		if got := since(""); !got.IsZero() {
			t.Errorf("whole since %v after more than an hour", got)
		}
	})
}

// A command that ends once it is live has heard all of it.
func TestTheLastHourComesBeforeLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 900, taken{Received: 900})
		deliver(t, r.Handler(), 1, 10)
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		events, observations := 0, 0
		for {
			_, text, err := p.socket.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			f, err := readFrame(text)
			if err != nil {
				t.Fatal(err)
			}
			switch f.T {
			case frameEvents:
				events += len(f.Items)
			case frameObservations:
				observations += len(f.observations.Items)
			case frameLive:
				if events != 10 || observations != 900 {
					t.Errorf("live after %d events and %d observations", events, observations)
				}
				return
			}
		}
	})
}

func TestWhoAsksForNoneGetsNoObservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
		p := connect(t, n, helloFrame{T: frameHello, Observed: noObservations})
		p.next(frameWelcome)
		p.next(frameLive)
		expectTaken(t, r.Handler(), 6, 9, taken{Received: 4})
		deliver(t, r.Handler(), 1, 1)
		p.next(frameEvents)
	})
}

// A client of before takes an unknown frame's items for events, finds them to be
// none, and goes on.
func TestAClientThatDoesNotKnowObservationsLosesNothingByThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 400, taken{Received: 400})
		deliver(t, r.Handler(), 1, 20)
		p := connect(t, n, map[string]any{"t": "hello", "cursor": nil, "client": "of before"})
		var seqs []int64
		for len(seqs) < 25 {
			_, text, err := p.socket.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var f struct {
				T     string     `json:"t"`
				Items []wireItem `json:"items"`
			}
			if err := json.Unmarshal(text, &f); err != nil {
				t.Fatalf("a frame that an older client cannot decode: %v", err)
			}
			if f.T == frameLive {
				expectTaken(t, r.Handler(), 401, 500, taken{Received: 100})
				deliver(t, r.Handler(), 21, 25)
			}
			if f.T != frameEvents {
				continue
			}
			for _, item := range f.Items {
				seqs = append(seqs, item.Seq)
			}
		}
		if want := row(1, 25); !reflect.DeepEqual(seqs, want) {
			t.Errorf("events %v", seqs)
		}
	})
}

// watching is a collector that takes observations, too.
type watching struct {
	*collector
	observed []quota.Observation
}

func (w *watching) Observe(batch []quota.Observation) {
	w.update(func() { w.observed = append(w.observed, batch...) })
}

func TestASubscriberHandsObservationsOnEachOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 300, taken{Received: 300})
		w := &watching{collector: newCollector()}
		stop := run(t, subscribe(t, n, nil), w)
		seen := func(n int) func() bool { return func() bool { return len(w.observed) >= n } }
		w.await(t, "the last hour", seen(300))
		w.await(t, "since when they are whole", func() bool { return !w.statuses[len(w.statuses)-1].ObservedSince.IsZero() })
		expectTaken(t, r.Handler(), 301, 310, taken{Received: 10})
		w.await(t, "what comes", seen(310))
		r.hub.mu.Lock()
		for c := range r.hub.connections {
			_ = c.socket.Close() // and it comes back
		}
		r.hub.mu.Unlock()
		expectTaken(t, r.Handler(), 311, 320, taken{Received: 10})
		w.await(t, "what came meanwhile", seen(320))
		<-time.After(time.Minute)
		stop()
		expectObserved(t, w.observed, 1, 320)
	})
}

func TestASubscriberScrubsWhatARelaySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := actor(t, func(p *peer, _ int) {
			p.send(goodWelcome)
			bad, loud := observed(1), observed(2)
			bad.Latency, loud.Spender = -1, "shop\x1b[2J"
			p.send(observationsFrame{T: frameObservations, Next: "9", Items: []quota.Observation{bad, loud}})
			_ = p.closed()
		})
		w := &watching{collector: newCollector()}
		stop := run(t, subscribe(t, n, nil), w)
		w.await(t, "an observation", func() bool { return len(w.observed) > 0 })
		stop()
		if len(w.observed) != 1 || w.observed[0].Spender != "shop[2J" {
			t.Errorf("%+v", w.observed)
		}
	})
}

// Dashboards that read nothing hold up neither the reporter nor the others, and take
// no memory for what they miss.
func TestAFloodOfObservationsBesideStalledDashboards(t *testing.T) {
	const stalled, flood, limit = 20, 15 * maxBatch, 20 << 20
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		for range stalled {
			connect(t, n, helloFrame{T: frameHello}).next(frameWelcome) // and reads no more
		}
		healthy := connect(t, n, helloFrame{T: frameHello})
		var reading sync.WaitGroup
		var all []quota.Observation
		reading.Go(func() { all, _ = healthy.observations(flood) })
		synctest.Wait()
		before, began := heap(), time.Now()
		for from := 0; from < flood; from += maxBatch {
			expectTaken(t, r.Handler(), from+1, from+maxBatch, taken{Received: maxBatch})
			<-time.After(time.Second)
		}
		reading.Wait()
		if took := time.Since(began); took > flood/observationRate*time.Second {
			t.Errorf("it took %v", took)
		}
		expectObserved(t, all, 1, flood)
		all = nil
		if grown := heap() - before; grown > limit {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
		if open := r.Streams(); open != 1 {
			t.Errorf("%d streams are open, where those that stall should have ended", open)
		}
	})
}
