package relay

import (
	"context"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

const (
	fanOutRate = 200 // events a second
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
			f := newFanOut(b, subscribers)
			f.postAtRate(1, b.N)
			f.report()
		})
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

func newFanOut(b *testing.B, subscribers int) *fanOut {
	f := &fanOut{b: b, journal: &stamped{Journal: openSQLite(b), of: make([]stamp, b.N+1)}}
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
	mu sync.Mutex
	of []stamp // by the sequence numbers
}

func (s *stamped) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	results, err := s.Journal.Append(ctx, entries)
	now := time.Now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, result := range results {
		s.of[result.Seq] = stamp{entries[i].Received.UnixNano(), now}
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
