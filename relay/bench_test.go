package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

const benchConnections = 64

// BenchmarkIngest posts signed events of 400 bytes over 64 connections, to a
// handler that only checks the signature and to a relay that stores them.
// The share of the two is what durability costs.
func BenchmarkIngest(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchmarkPosts(b, http.HandlerFunc(checkOnly)) })
	b.Run("durable", func(b *testing.B) {
		j := openSQLite(b)
		benchmarkPosts(b, newTestRelay(b, j, nil).Ingest())
		if head := headOf(b, j); head != int64(b.N) {
			b.Errorf("%d events of %d are stored", head, b.N)
		}
	})
}

func openSQLite(b *testing.B) journal.Journal {
	j, err := sqlite.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	return j
}

func checkOnly(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil || !hmac.Equal([]byte(sign(testSecret, body)), []byte(req.Header.Get("x-svc-signature"))) {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func benchmarkPosts(b *testing.B, h http.Handler) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { _ = server.Close() })

	var events atomic.Int64
	b.SetParallelism(benchConnections / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		answers := bufio.NewReader(c)
		var request bytes.Buffer
		for pb.Next() {
			body := padded(int(events.Add(1)), 400)
			request.Reset()
			fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: x\r\nX-Svc-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
				WebhookPath, sign(testSecret, body), len(body), body)
			if _, err := c.Write(request.Bytes()); err != nil {
				b.Error(err)
				return
			}
			answer, err := http.ReadResponse(answers, nil)
			if err != nil || answer.StatusCode != http.StatusOK {
				b.Errorf("answer %v, %v", answer, err)
				return
			}
		}
	})
	b.StopTimer()
}

// BenchmarkReplay reads a journal through the stream from its beginning.
func BenchmarkReplay(b *testing.B) {
	j := openSQLite(b)
	for n := 0; n < b.N; n += 500 {
		var entries []journal.Entry
		for i := n; i < min(n+500, b.N); i++ {
			entries = append(entries, journal.Entry{ID: strconv.Itoa(i), Type: "a", Origin: journal.Webhook, Body: padded(i, 400)})
		}
		if _, err := j.Append(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	r := newTestRelay(b, j, nil)
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	c := newCollector()
	b.ReportAllocs()
	b.ResetTimer()
	run(b, newTestSubscriber(b, SubscriberConfig{URL: "http://" + listener.Addr().String()}), c)
	c.awaitItems(b, b.N)
	b.StopTimer()
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// BenchmarkFanOut posts one event at a time: an operation lasts until every
// subscriber has it.
func BenchmarkFanOut(b *testing.B) {
	for _, subscribers := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) { benchmarkFanOut(b, subscribers) })
	}
}

func benchmarkFanOut(b *testing.B, subscribers int) {
	j := openSQLite(b)
	r := newTestRelay(b, j, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	arrived := make(chan struct{}, subscribers)
	for range subscribers {
		c := &arrivals{newCollector(), arrived}
		run(b, newTestSubscriber(b, SubscriberConfig{URL: "http://" + listener.Addr().String()}), c)
		c.awaitState(b, Live)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		deliver(b, r.Handler(), n, n)
		for range subscribers {
			<-arrived
		}
	}
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// arrivals tells of each event that came.
type arrivals struct {
	*collector
	arrived chan<- struct{}
}

func (a *arrivals) Events(_ context.Context, batch []Item) error {
	for range batch {
		a.arrived <- struct{}{}
	}
	return nil
}

// BenchmarkEncode makes an event ready for all connections.
func BenchmarkEncode(b *testing.B) {
	record := journal.Record{Seq: 1, Entry: journal.Entry{ID: "evt_ci_1", Type: "a", Origin: journal.Webhook, Body: padded(1, 400), Received: receivedAt(1), CreatedAt: receivedAt(0)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encode(record); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAccept judges a delivery without its storage.
func BenchmarkAccept(b *testing.B) {
	r := newTestRelay(b, newMemory(b), nil)
	body := padded(1, 400)
	given, _ := parseSignature(sign(testSecret, body))
	b.ReportAllocs()
	for b.Loop() {
		v, ok := r.verifier.verify(body, given)
		if !ok {
			b.Fatal("refused")
		}
		if _, err := readDelivery(v); err != nil {
			b.Fatal(err)
		}
	}
}
