package relay

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/relay/journal"
)

const (
	fanOutRate   = 200 // events a second
	fanOutWindow = 64  // events under way at saturation
)

// BenchmarkFanOutAtRate posts 200 signed events of 400 bytes a second, whether
// those before have arrived or not; an operation is one of them. It reports how
// long they took to every subscriber's frame: p50-ms and p99-ms from when the
// journal had made them durable, post-p50-ms and post-p99-ms from when they were
// posted; and what a subscriber costs the relay, which is alone in its process.
//
//	go test ./relay -run '^$' -bench FanOutAtRate -benchtime 1000x
func BenchmarkFanOutAtRate(b *testing.B) {
	for _, subscribers := range []int{100, 1000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) {
			f := newFanOut(b, subscribers, 0)
			f.postAtRate(1, b.N)
			f.report()
		})
	}
}

// BenchmarkFanOutSaturated keeps 64 events under way: the next is posted when
// one has reached all of 1,000 subscribers.
//
//	go test ./relay -run '^$' -bench FanOutSaturated -benchtime 5000x
func BenchmarkFanOutSaturated(b *testing.B) {
	f := newFanOut(b, 1000, 0)
	var posts sync.WaitGroup
	for n := range b.N {
		if n >= fanOutWindow {
			f.readers.next(b)
		}
		posts.Go(func() { f.post(n + 1) })
	}
	posts.Wait()
	for range min(b.N, fanOutWindow) {
		f.readers.next(b)
	}
	f.report()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

const (
	benchHealthy, benchStalled = 50, 10

	backlogEvents, backlogSize = 400, 64 << 10 // more than sockets hold
)

// BenchmarkStalledSubscribers posts 200 events a second to 50 subscribers, in
// turns of a second without and with 10 others that read nothing and whose
// connections are full; which comes first changes from pair to pair. It reports
// the 99th percentile of how long the events of a turn took to the 50, as
// BenchmarkFanOutAtRate does: the median of the turns of either kind, so that one
// hiccup of the machine decides nothing, and their ratio.
//
//	go test ./relay -run '^$' -bench StalledSubscribers -benchtime 4000x
func BenchmarkStalledSubscribers(b *testing.B) {
	f := newFanOut(b, benchHealthy, backlogEvents)
	for turn := range (b.N + fanOutRate - 1) / fanOutRate {
		first := 1 + turn*fanOutRate
		leave := func() {}
		if withStalled(turn) {
			b.StopTimer()
			leave = f.stall()
			b.StartTimer()
		}
		f.postAtRate(first, min(first+fanOutRate-1, b.N))
		b.StopTimer()
		leave()
		b.StartTimer()
	}
	b.StopTimer()
	var waits []time.Duration
	for i, at := range f.readers.arrivals(b) {
		waits = append(waits, time.Duration(at-f.journal.of[1+i/benchHealthy].durable))
	}
	var without, with []time.Duration // the 99th percentiles of turns
	for turn := 0; len(waits) > 0; turn++ {
		n := min(fanOutRate*benchHealthy, len(waits))
		if p := percentile(waits[:n], 99); withStalled(turn) {
			with = append(with, p)
		} else {
			without = append(without, p)
		}
		waits = waits[n:]
	}
	if len(with) == 0 {
		return // too few for two turns
	}
	b.ReportMetric(percentile(without, 50).Seconds()*1000, "p99-ms")
	b.ReportMetric(percentile(with, 50).Seconds()*1000, "stalled-p99-ms")
	b.ReportMetric(float64(percentile(with, 50))/float64(percentile(without, 50)), "ratio")
}

// withStalled reports whether a turn is one with stalled subscribers.
func withStalled(turn int) bool { return turn%4 == 1 || turn%4 == 2 }

// stall opens connections that take nothing, and returns when the relay can
// write no more to them.
func (f *fanOut) stall() (leave func()) {
	var sockets []*websocket.Conn
	for range benchStalled {
		dialer := websocket.Dialer{Subprotocols: []string{Protocol}}
		socket, _, err := dialer.Dial("ws://"+f.address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
		if err != nil {
			f.b.Fatal(err)
		}
		if err := socket.WriteJSON(helloFrame{T: frameHello}); err != nil {
			f.b.Fatal(err)
		}
		sockets = append(sockets, socket)
	}
	before := int64(-1)
	f.await(func() bool {
		last := before
		before = 0
		f.relay.hub.mu.Lock()
		defer f.relay.hub.mu.Unlock()
		for c := range f.relay.hub.connections {
			before += c.seq.Load()
		}
		return before == last && len(f.relay.hub.connections) == benchHealthy+benchStalled
	})
	return func() {
		for _, socket := range sockets {
			_ = socket.Close()
		}
		f.await(func() bool { return f.relay.Streams() == benchHealthy })
	}
}

// await waits until so is true.
func (f *fanOut) await(so func() bool) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for limit := time.After(30 * time.Second); !so(); {
		select {
		case <-ticker.C:
		case <-limit:
			f.b.Fatal("waited in vain")
		}
	}
}

// fanOut is a relay over SQLite with subscribers in another process.
type fanOut struct {
	b       *testing.B
	relay   *Relay
	address string
	journal *stamped
	readers *readers

	memory int64         // of a subscriber
	spent  time.Duration // of the processor, before the first event
}

func newFanOut(b *testing.B, subscribers, backlog int) *fanOut {
	f := &fanOut{b: b, journal: &stamped{Journal: openSQLite(b), of: make([]stamp, b.N+1), before: int64(backlog)}}
	for n := range backlog {
		entry := journal.Entry{ID: strconv.Itoa(n), Origin: journal.Webhook, Body: padded(n, backlogSize)}
		if _, err := f.journal.Journal.Append(b.Context(), []journal.Entry{entry}); err != nil {
			b.Fatal(err)
		}
	}
	f.relay = newTestRelay(b, f.journal, func(cfg *Config) { cfg.Heartbeat = time.Hour }) // lean subscribers answer no ping
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.relay.Serve(ctx, listener) }()
	before := memoryInUse()
	f.address = listener.Addr().String()
	f.readers = startReaders(b, f.address, subscribers, b.N)
	b.Cleanup(func() {
		_ = f.readers.process.Process.Kill()
		cancel()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	f.memory = (memoryInUse() - before) / int64(subscribers)
	f.spent = processorTime(b)
	b.ResetTimer()
	return f
}

func (f *fanOut) post(n int) {
	if w := serve(f.relay.Ingest(), signedRequest(padded(n, 400))); w.Code != 200 {
		f.b.Errorf("event %d: %d", n, w.Code)
	}
}

// postAtRate posts the events from and to, and returns when all have arrived.
func (f *fanOut) postAtRate(from, to int) {
	var posts sync.WaitGroup
	ticker := time.NewTicker(time.Second / fanOutRate)
	defer ticker.Stop()
	for n := from; n <= to; n++ {
		<-ticker.C
		posts.Go(func() { f.post(n) })
	}
	posts.Wait()
	for n := from; n <= to; n++ {
		f.readers.next(f.b)
	}
}

func (f *fanOut) report() {
	f.b.StopTimer()
	deliveries := f.b.N * f.readers.subscribers
	spent := processorTime(f.b) - f.spent
	var fromJournal, fromPost []time.Duration
	arrivals := f.readers.arrivals(f.b)
	for i, at := range arrivals {
		s := f.journal.of[1+i/f.readers.subscribers]
		fromJournal = append(fromJournal, time.Duration(at-s.durable))
		fromPost = append(fromPost, time.Duration(at-s.posted))
	}
	report := func(all []time.Duration, name string) {
		for _, n := range []int{50, 99} {
			f.b.ReportMetric(percentile(all, n).Seconds()*1000, name+"p"+strconv.Itoa(n)+"-ms")
		}
	}
	report(fromJournal, "")
	report(fromPost, "post-")
	f.b.ReportMetric(float64(spent.Microseconds())/float64(deliveries), "cpu-µs/delivery")
	f.b.ReportMetric(spent.Seconds()/f.b.Elapsed().Seconds()/float64(f.readers.subscribers)*100, "cpu-%/subscriber")
	f.b.ReportMetric(float64(f.memory)/1024, "kB/subscriber")
}

func percentile(all []time.Duration, n int) time.Duration {
	slices.Sort(all)
	return all[(len(all)-1)*n/100]
}

// stamp is when an event was posted and when the journal had made it durable, in
// nanoseconds of the wall clock.
type stamp struct{ posted, durable int64 }

// stamped notes when what is appended became durable.
type stamped struct {
	journal.Journal
	mu     sync.Mutex
	before int64   // the last sequence number that was there before
	of     []stamp // by the sequence numbers behind it
}

func (s *stamped) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	results, err := s.Journal.Append(ctx, entries)
	now := time.Now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, result := range results {
		s.of[result.Seq-s.before] = stamp{entries[i].Received.UnixNano(), now}
	}
	return results, err
}

// memoryInUse is that of the heap and of stacks.
func memoryInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// processorTime is what this process has spent of it.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
