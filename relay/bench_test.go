package relay

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

const benchConnections = 64

// benchStored is the number of events that a journal holds before it is measured.
var benchStored = flag.Int("stored", 10_000, "events in the journal before BenchmarkIngest; the long form is 1000000")

// benchRound is how many events are posted to one side before it is the other's
// turn.
const benchRound = 8192

// BenchmarkIngest posts signed events of 400 bytes over 64 connections, in turns
// to a handler that only checks the signature and to a relay that stores them
// beside those of -stored. An operation is one event to each. It reports both
// rates, their share, and both 99th percentiles. Its long form:
//
//	go test ./relay -run '^$' -bench '^BenchmarkIngest$' -benchtime 100000x -stored 1000000
func BenchmarkIngest(b *testing.B) {
	j := openSQLite(b)
	store(b, j, *benchStored)
	r := newTestRelay(b, j, nil)
	bare := newPosters(b, http.HandlerFunc(checkOnly), 1<<40)
	durable := newPosters(b, r.Ingest(), *benchStored)
	bare.post(b, benchRound/4) // connections open, pools fill
	durable.post(b, benchRound/4)
	bare.reset()
	durable.reset()
	b.ResetTimer()
	for left := b.N; left > 0; left -= benchRound {
		n := min(left, benchRound)
		bare.post(b, n)
		durable.post(b, n)
	}
	b.StopTimer()
	if head := headOf(b, j); head != int64(*benchStored+benchRound/4+b.N) {
		b.Errorf("%d events are stored", head)
	}
	b.ReportMetric(float64(b.N)/bare.took.Seconds(), "bare/s")
	b.ReportMetric(float64(b.N)/durable.took.Seconds(), "durable/s")
	b.ReportMetric(bare.took.Seconds()/durable.took.Seconds(), "share")
	bare99, durable99 := bare.percentile(99), durable.percentile(99)
	b.ReportMetric(bare99.Seconds()*1000, "bare-p99-ms")
	b.ReportMetric(durable99.Seconds()*1000, "durable-p99-ms")
	b.ReportMetric(durable99.Seconds()/bare99.Seconds(), "p99-ratio")
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

func checkOnly(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil || !hmac.Equal([]byte(sign(testSecret, body)), []byte(req.Header.Get("x-svc-signature"))) {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// posters post events to one server over connections that stay open.
type posters struct {
	connections []net.Conn
	events      atomic.Int64 // the number of the last one
	took        time.Duration
	mu          sync.Mutex
	waits       []time.Duration
}

func newPosters(b *testing.B, h http.Handler, from int) *posters {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }()
	p := &posters{}
	p.events.Store(int64(from))
	b.Cleanup(func() {
		for _, c := range p.connections {
			_ = c.Close()
		}
		_ = server.Close()
	})
	for range benchConnections {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		p.connections = append(p.connections, c)
	}
	return p
}

func (p *posters) reset() { p.took, p.waits = 0, nil }

// post posts n events and waits for their answers.
func (p *posters) post(b *testing.B, n int) {
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var tasks sync.WaitGroup
	for _, c := range p.connections {
		tasks.Go(func() {
			var waits []time.Duration
			answers := bufio.NewReader(c)
			var request bytes.Buffer
			for left.Add(-1) >= 0 {
				body := padded(int(p.events.Add(1)), 400)
				request.Reset()
				fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: x\r\nX-Svc-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
					WebhookPath, sign(testSecret, body), len(body), body)
				sent := time.Now()
				if _, err := c.Write(request.Bytes()); err != nil {
					b.Error(err)
					return
				}
				answer, err := http.ReadResponse(answers, nil)
				if err != nil || answer.StatusCode != http.StatusOK {
					b.Errorf("answer %v, %v", answer, err)
					return
				}
				waits = append(waits, time.Since(sent))
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.waits = append(p.waits, waits...)
		})
	}
	tasks.Wait()
	p.took += time.Since(began)
}

func (p *posters) percentile(n int) time.Duration {
	if len(p.waits) == 0 {
		return 0
	}
	slices.Sort(p.waits)
	return p.waits[(len(p.waits)-1)*n/100]
}
