package relay

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// benchStored is the number of events that a journal holds before it is measured.
var benchStored = flag.Int("stored", 10_000, "events in the journal before BenchmarkIngest; the long form is 1000000")

// BenchmarkIngest has 64 senders deliver signed events of 400 bytes at the same time to a relay that stores them beside
// those of -stored. It reports the rate and the 99th percentile. Its long form:
//
//	go test ./relay -run '^$' -bench '^BenchmarkIngest$' -benchtime 100000x -stored 1000000
func BenchmarkIngest(b *testing.B) {
	const senders = 64
	j := openSQLite(b)
	store(b, j, *benchStored)
	h := newTestRelay(b, j, nil).Ingest()
	var events atomic.Int64
	waits := make([]time.Duration, b.N)
	var tasks sync.WaitGroup
	b.ResetTimer()
	for range senders {
		tasks.Go(func() {
			for n := events.Add(1); n <= int64(b.N); n = events.Add(1) {
				req := signedRequest(padded(*benchStored+int(n), 400))
				began := time.Now()
				if w := serve(h, req); w.Code != http.StatusOK {
					b.Errorf("event %d: %d", n, w.Code)
				}
				waits[n-1] = time.Since(began)
			}
		})
	}
	tasks.Wait()
	b.StopTimer()
	if head := headOf(b, j); head != int64(*benchStored+b.N) {
		b.Errorf("%d events are stored", head)
	}
	slices.Sort(waits)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(waits[(len(waits)-1)*99/100].Seconds()*1000, "p99-ms")
}

func openSQLite(b *testing.B) journal.Journal {
	j, err := sqlite.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	return j
}

// store appends events from 1 to n, as deliveries would have.
func store(b *testing.B, j journal.Journal, n int) {
	b.Helper()
	for from := 1; from <= n; from += 1000 {
		var entries []journal.Entry
		for i := from; i < min(from+1000, n+1); i++ {
			entries = append(entries, journal.Entry{
				ID: fmt.Sprintf("evt_ci_%032x_awaiting_confirmation", -i), Type: "checkout_intent.offer_retrieved",
				Received: receivedAt(i), Origin: journal.Webhook, Body: padded(i, 400),
			})
		}
		if _, err := j.Append(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
}

const fanOutRate = 200 // events a second

// BenchmarkFanOut posts up to 200 signed events of 400 bytes a second over SQLite; an operation is one of them. It reports how long they took from the post to every subscriber's frame. The
// subscribers share the process and its processors with the relay.
//
//	go test ./relay -run '^$' -bench FanOut -benchtime 1000x
func BenchmarkFanOut(b *testing.B) {
	for _, subscribers := range []int{100, 1000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) { fanOut(b, subscribers) })
	}
}

func fanOut(b *testing.B, subscribers int) {
	r := newTestRelay(b, openSQLite(b), nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	posted := make([]time.Time, b.N+1)
	took := make([][]time.Duration, subscribers)
	var reading sync.WaitGroup
	for i := range subscribers {
		p := liveAt(b, listener.Addr().String())
		reading.Go(func() {
			for len(took[i]) < b.N {
				_, text, err := p.socket.ReadMessage()
				if err != nil {
					b.Error(err)
					return
				}
				for range bytes.Count(text, []byte(`{"seq":`)) {
					took[i] = append(took[i], time.Since(posted[len(took[i])+1]))
				}
			}
		})
	}
	ticker := time.NewTicker(time.Second / fanOutRate)
	defer ticker.Stop()
	b.ResetTimer()
	for n := 1; n <= b.N; n++ {
		<-ticker.C
		posted[n] = time.Now()
		if w := serve(r.Ingest(), signedRequest(padded(n, 400))); w.Code != http.StatusOK {
			b.Fatalf("event %d: %d", n, w.Code)
		}
	}
	reading.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	for _, n := range []int{50, 99} {
		b.ReportMetric(all[(len(all)-1)*n/100].Seconds()*1000, "p"+strconv.Itoa(n)+"-ms")
	}
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// liveAt returns a stream of an address that is live and has seen nothing.
func liveAt(b *testing.B, address string) *peer {
	dialer := websocket.Dialer{Subprotocols: []string{Protocol}}
	socket, _, err := dialer.Dial("ws://"+address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = socket.Close() })
	p := &peer{b, socket}
	p.send(helloFrame{T: frameHello, From: FromLatest})
	p.next(frameWelcome)
	p.next(frameLive)
	return p
}
