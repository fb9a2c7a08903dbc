package proxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tillwatch/api/quota"
)

// answered is a service that answers as the real one does, at once.
func answered(b *testing.B) (direct string) {
	return service(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["RateLimit-Policy"] = []string{`"default";q=10;w=1`}
		w.Header()["RateLimit"] = []string{`"default";r=9;t=1`}
		_, _ = io.WriteString(w, `{"id":"ci_779d1ba1900f41e1ace4536c64382ed7","state":"awaiting_confirmation","referenceId":"order-1"}`)
	}).URL
}

func get(b *testing.B, client *http.Client, base string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, base+"/api/v1/checkout-intents/ci_779d1ba1900f41e1ace4536c64382ed7", nil)
	if err != nil {
		b.Error(err)
		return
	}
	r.Header["Authorization"] = []string{"Bearer a-key-of-the-shop"}
	answer, err := client.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

// plain returns a proxy whose reads go the way of all other requests, through net/http's transport.
func plain(b *testing.B, upstream string) *standing {
	p := stand(b, upstream, nil)
	p.observed.(*quota.Transport).Base = p.reads.pooled
	return p
}

// BenchmarkLatency reports the median of reads at 100 a second by turns: straight, through the proxy, and through it
// with net/http's transport.
func BenchmarkLatency(b *testing.B) {
	direct := answered(b)
	bases := []string{direct, stand(b, direct, nil).url, plain(b, direct).url}
	client := caller(b)
	took := make([][]time.Duration, len(bases))
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for b.Loop() {
		for i, base := range bases {
			<-ticker.C
			began := time.Now()
			get(b, client, base)
			took[i] = append(took[i], time.Since(began))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(median(took[0]), "ms-direct")
	b.ReportMetric(median(took[1]), "ms-through")
	b.ReportMetric(median(took[2]), "ms-through-net/http")
}

// BenchmarkRate reports how many reads a second 64 connections get answered, as a ratio to what they get straight in the
// same round: through a bare [httputil.ReverseProxy], through the proxy, and through it with net/http's transport.
func BenchmarkRate(b *testing.B) {
	direct := answered(b)
	upstream, err := url.Parse(direct)
	if err != nil {
		b.Fatal(err)
	}
	bare := httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: &http.Transport{MaxIdleConnsPerHost: keptIdle},
	}
	bases := []string{direct, service(b, bare.ServeHTTP).URL, stand(b, direct, nil).url, plain(b, direct).url}
	client := caller(b)
	ofDirect := make([][]float64, len(bases)) // by rounds
	for b.Loop() {
		direct := 0.0
		for i, base := range bases {
			rate := flood(b, client, base, 64, 300*time.Millisecond)
			if i == 0 {
				direct = rate
			}
			ofDirect[i] = append(ofDirect[i], rate/direct)
		}
	}
	median := func(i int) float64 {
		slices.Sort(ofDirect[i])
		return ofDirect[i][len(ofDirect[i])/2]
	}
	b.ReportMetric(median(1), "bare-of-direct")
	b.ReportMetric(median(2), "of-direct")
	b.ReportMetric(median(3), "net/http-of-direct")
}

// BenchmarkIdle reports how much memory a connection takes while it waits for its second request: of a bare
// [httputil.ReverseProxy] on net/http's server, and of the proxy.
func BenchmarkIdle(b *testing.B) {
	direct := answered(b)
	upstream, err := url.Parse(direct)
	if err != nil {
		b.Fatal(err)
	}
	bare := httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }}
	const many = 500
	var kB [2]float64
	bases := []string{service(b, bare.ServeHTTP).URL, stand(b, direct, nil).url}
	for b.Loop() {
		for i, base := range bases {
			conns := make([]net.Conn, many)
			before := inUse()
			for n := range conns {
				if conns[n], err = net.Dial("tcp", strings.TrimPrefix(base, "http://")); err != nil {
					b.Fatal(err)
				}
				_, _ = io.WriteString(conns[n], "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				if _, err := conns[n].Read(make([]byte, 4<<10)); err != nil {
					b.Fatal(err)
				}
			}
			kB[i] = (inUse() - before) / many / 1024
			for _, conn := range conns {
				conn.Close()
			}
		}
	}
	b.ReportMetric(kB[0], "kB-bare")
	b.ReportMetric(kB[1], "kB")
}

// inUse returns the bytes of heap and stacks.
func inUse() float64 {
	for range 3 {
		runtime.GC() // each halves stacks
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

func flood(b *testing.B, client *http.Client, base string, connections int, length time.Duration) (rate float64) {
	var done atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for range connections {
		clients.Go(func() {
			for time.Since(began) < length {
				get(b, client, base)
				done.Add(1)
			}
		})
	}
	clients.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
