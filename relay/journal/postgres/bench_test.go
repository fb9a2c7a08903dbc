package postgres

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

const (
	benchConnections = 64
	// benchStored is how many events a journal holds before the benchmark.
	benchStored = "TILLWATCH_BENCH_STORED"
)

// BenchmarkIngest posts signed events of 400 bytes over 64 connections: to a
// handler that only checks the signature, to a relay on SQLite, to one on
// PostgreSQL, and to two that share it. The share of the first is what
// durability costs. The database runs on the same machine.
func BenchmarkIngest(b *testing.B) {
	dsn := schema(b)
	var posted atomic.Int64 // numbers events over all runs, so that none repeats another
	b.Run("bare", func(b *testing.B) { benchmarkPosts(b, &posted, http.HandlerFunc(checkOnly)) })
	b.Run("sqlite", func(b *testing.B) {
		j, err := sqlite.Open(b.Context(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = j.Close() })
		fill(b, j)
		benchmarkPosts(b, &posted, newRelay(b, j).Ingest())
	})
	for _, relays := range []int{1, 2} {
		b.Run("postgres/relays="+strconv.Itoa(relays), func(b *testing.B) {
			j := opened(b, dsn)
			fill(b, j)
			handlers := []http.Handler{newRelay(b, j).Ingest()}
			for len(handlers) < relays {
				handlers = append(handlers, newRelay(b, opened(b, dsn)).Ingest())
			}
			before := headOf(b, j)
			benchmarkPosts(b, &posted, handlers...)
			if stored := headOf(b, j) - before; stored != int64(b.N) {
				b.Errorf("%d events of %d are stored", stored, b.N)
			}
		})
	}
}

func headOf(b *testing.B, j journal.Journal) int64 {
	head, err := j.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return head
}

func fill(b *testing.B, j journal.Journal) {
	many, _ := strconv.ParseInt(os.Getenv(benchStored), 10, 64)
	for n := headOf(b, j); n < many; n += 1000 {
		entries := make([]journal.Entry, 1000)
		for i := range entries {
			entries[i] = journal.Entry{ID: fmt.Sprintf("stored-%d", n+int64(i)), Type: "checkout_intent.completed", Body: eventBody(i, 400)}
		}
		if _, err := j.Append(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
}

func checkOnly(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || !hmac.Equal([]byte(signatureOf(body)), []byte(request.Header.Get("x-svc-signature"))) {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// benchmarkPosts spreads the connections over handlers.
func benchmarkPosts(b *testing.B, posted *atomic.Int64, handlers ...http.Handler) {
	var addresses []string
	for _, handler := range handlers {
		listening, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		addresses = append(addresses, listening.Addr().String())
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(listening) }()
		b.Cleanup(func() { _ = server.Close() })
	}
	var connections atomic.Int64
	b.SetParallelism(benchConnections / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", addresses[int(connections.Add(1))%len(addresses)])
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		answers := bufio.NewReader(c)
		var request bytes.Buffer
		for pb.Next() {
			body := eventBody(int(posted.Add(1)), 400)
			request.Reset()
			fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: x\r\nX-Svc-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
				relay.WebhookPath, signatureOf(body), len(body), body)
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
