package simulator

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
)

func benchmarkAccount(b *testing.B, history int) (*Simulator, string) {
	b.Helper()
	s, err := New(Config{Key: api.NewSecret(testKey), Limits: Unlimited(), History: history})
	if err != nil {
		b.Fatal(err)
	}
	id, err := s.CreateIntent(Order{ProductURL: chiliCrisp, State: api.Completed})
	if err != nil {
		b.Fatal(err)
	}
	return s, id
}

// discard is a ResponseWriter that keeps only the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

func BenchmarkHandler(b *testing.B) {
	s, id := benchmarkAccount(b, 1000)
	run := func(name, method, path, body string, status int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest(method, path, strings.NewReader(body))
					r.Header.Set("Authorization", "Bearer "+testKey)
					w := &discard{header: http.Header{}}
					s.Handler().ServeHTTP(w, r)
					if w.status != status {
						b.Errorf("status %d, want %d", w.status, status)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
	run("get an intent", "GET", "/api/v1/checkout-intents/"+id, "", http.StatusOK)
	run("get an event", "GET", "/api/v1/events/evt_"+id+"_completed", "", http.StatusOK)
	run("a page of 10 shipments", "GET", "/api/v1/shipments?limit=10", "", http.StatusOK)
	run("look a product up", "GET", "/api/v1/products/lookup?url=https%3A%2F%2Fspice-lab.example%2Fproducts%2Fchili-crisp", "", http.StatusOK)
	run("create an intent", "POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp), http.StatusCreated)
}

// BenchmarkLoopback answers requests over real connections. Its client does no
// more than it must, as both share the processors.
func BenchmarkLoopback(b *testing.B) {
	s, id := benchmarkAccount(b, -1)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	request := "GET /api/v1/checkout-intents/" + id + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + testKey + "\r\n\r\n"
	for _, connections := range []int{8, 64} {
		b.Run(fmt.Sprint(connections, " connections"), func(b *testing.B) {
			var clients sync.WaitGroup
			for i := range connections {
				n := b.N / connections
				if i < b.N%connections {
					n++
				}
				clients.Go(func() {
					if err := hammer(server.Listener.Addr().String(), request, n); err != nil {
						b.Error(err)
					}
				})
			}
			clients.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// hammer makes n requests, one after the other, on one connection.
func hammer(address, request string, n int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 8<<10)
	for range n {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		length, status := 0, ""
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return err
			}
			if len(line) == 2 {
				break
			}
			if status == "" {
				if status = string(line); !strings.Contains(status, " 200 ") {
					return fmt.Errorf("answered %s", status)
				}
			}
			if digits, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				if length, err = strconv.Atoi(strings.TrimSpace(digits)); err != nil {
					return err
				}
			}
		}
		if _, err := in.Discard(length); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkMemory says what 100,000 intents take, most of them completed, with
// their shipments and events.
func BenchmarkMemory(b *testing.B) {
	const intents = 100_000
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		started := time.Now()
		s, err := New(Config{Key: api.NewSecret(testKey), Limits: Unlimited(), History: intents})
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(started)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB")
		b.ReportMetric(float64(took.Microseconds())/intents, "µs/intent")
		b.ReportMetric(float64(len(s.fulfilment.shipments.items)), "shipments")
		b.ReportMetric(float64(len(s.webhooks.events.items)), "events")
		runtime.KeepAlive(s)
	}
}
