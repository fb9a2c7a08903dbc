package relay

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
