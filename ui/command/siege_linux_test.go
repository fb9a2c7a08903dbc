package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The limits that hold while strangers besiege a relay.
const (
	siegeClosed = 12 * time.Second       // until a connection that dawdles is closed
	siegeAnswer = 250 * time.Millisecond // 99th percentile of valid posts
	siegeGrowth = 64_000_000             // bytes that endless bodies add to the process
)

// BenchmarkSiege measures what strangers can do to a relay that runs as a process
// of its own: a thousand connections that never finish their header, a thousand
// that send a byte of their body a second, then a hundred that post without an
// end, while valid events are posted over connections new and old. It takes some
// half a minute:
//
//	go test ./ui/command -run '^$' -bench Siege -benchtime 1x
func BenchmarkSiege(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	b.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
	for b.Loop() {
		p := startRelayProcess(b, filepath.Join(dir, "relay"))
		quiet := newRegular(b, p)
		quiet.run(3 * time.Second)
		quiet.report("quiet")

		dawdling := newRegular(b, p)
		dawdlers := &besiegers{address: strings.TrimPrefix(p.Listen, "http://")}
		dawdlers.open(b, 1000, "POST /webhooks HTTP/1.1\r\nHost: x\r\n")
		dawdlers.open(b, 1000, "POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\nX-Svc-Signature: v0="+strings.Repeat("0", 64)+"\r\n\r\n")
		dawdling.run(siegeClosed + time.Second)
		if p99 := dawdling.report("dawdlers"); p99 > siegeAnswer {
			b.Errorf("the 99th percentile of %d valid posts is %v", len(dawdling.took), p99)
		}
		closed, open := dawdlers.end()
		b.ReportMetric(closed.Seconds(), "closed-s")
		if open > 0 || closed > siegeClosed {
			b.Errorf("%d of the connections that dawdle are open after %v, the last of the others was closed after %v", open, siegeClosed, closed)
		}

		before := p.memory(b, "VmRSS")
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.command.Process.Pid), []byte("5"), 0); err != nil {
			b.Fatal(err) // 5 resets the peak
		}
		flooded := newRegular(b, p)
		var refused atomic.Int64
		ctx, stop := context.WithTimeout(b.Context(), 5*time.Second)
		var floods sync.WaitGroup
		for range 100 {
			floods.Go(func() { flood(ctx, p.Listen, &refused) })
		}
		flooded.run(4 * time.Second)
		stop()
		floods.Wait()
		flooded.report("flood")
		grown := p.memory(b, "VmHWM") - before
		b.ReportMetric(float64(grown)/1e6, "flood-grown-MB")
		b.ReportMetric(float64(refused.Load()), "flood-refused")
		if grown > siegeGrowth || refused.Load() == 0 {
			b.Errorf("%d endless bodies were refused and the process has grown by %d bytes", refused.Load(), grown)
		}
		p.stop()
	}
}

// memory reads a figure of /proc/PID/status, in bytes.
func (p *process) memory(b testing.TB, field string) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(line, ":"); name == field {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	b.Fatalf("the status has no %s", field)
	return 0
}

// regular posts valid events, some over a connection that stays open and some
// over new ones, and notes how long their answers took.
type regular struct {
	b    *testing.B
	p    *process
	mu   sync.Mutex
	took []time.Duration
}

func newRegular(b *testing.B, p *process) *regular { return &regular{b: b, p: p} }

func (r *regular) run(length time.Duration) {
	ctx, stop := context.WithTimeout(r.b.Context(), length)
	defer stop()
	var tasks sync.WaitGroup
	for sender := range 8 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: sender%2 == 0}}
		tasks.Go(func() {
			defer client.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				r.post(client, fmt.Sprintf(`{"id":"evt_%p_%d_%d","type":"shipment.updated","source":{"id":"shp_1","type":"shipment"}}`, r, sender, n))
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	tasks.Wait()
}

func (r *regular) post(client *http.Client, body string) {
	request, err := http.NewRequest(http.MethodPost, r.p.Listen+"/webhooks", strings.NewReader(body))
	if err != nil {
		r.b.Error(err)
		return
	}
	request.Header.Set("x-svc-signature", signed(oldSecret, body))
	began := time.Now()
	answer, err := client.Do(request)
	took := time.Since(began)
	if err != nil {
		r.b.Error(err)
		return
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		r.b.Errorf("a valid event: %d", answer.StatusCode)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, took)
}

// report reports the 99th percentile.
func (r *regular) report(name string) time.Duration {
	slices.Sort(r.took)
	p99 := r.took[len(r.took)*99/100]
	r.b.ReportMetric(float64(p99.Microseconds())/1000, name+"-p99-ms")
	return p99
}

// besiegers hold connections open.
type besiegers struct {
	address string
	tasks   sync.WaitGroup
	mu      sync.Mutex
	held    map[net.Conn]struct{}
	longest time.Duration
}

// open makes connections that send beginning at once and then a byte a second.
func (s *besiegers) open(b *testing.B, connections int, beginning string) {
	b.Helper()
	if s.held == nil {
		s.held = map[net.Conn]struct{}{}
	}
	for range connections {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		s.mu.Lock()
		s.held[c] = struct{}{}
		s.mu.Unlock()
		gone := make(chan struct{})
		s.tasks.Go(func() {
			for rest := beginning; ; rest = "1" {
				if _, err := io.WriteString(c, rest); err != nil {
					return
				}
				select {
				case <-time.After(time.Second):
				case <-gone:
					return
				}
			}
		})
		s.tasks.Go(func() {
			_, err := io.Copy(io.Discard, c)
			close(gone)
			s.mu.Lock()
			defer s.mu.Unlock()
			if delete(s.held, c); !errors.Is(err, net.ErrClosed) {
				s.longest = max(s.longest, time.Since(began))
			}
			_ = c.Close()
		})
	}
}

// end closes what is still open, and returns how many those were and how long the
// others lasted.
func (s *besiegers) end() (longest time.Duration, left int) {
	s.mu.Lock()
	left, longest = len(s.held), s.longest
	for c := range s.held {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
	return longest, left
}

// flood posts bodies without an end until ctx ends.
func flood(ctx context.Context, url string, refused *atomic.Int64) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/webhooks", endless{})
		if err != nil {
			return
		}
		request.Header.Set("x-svc-signature", "v0="+strings.Repeat("0", 64))
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusRequestEntityTooLarge || answer.StatusCode == http.StatusServiceUnavailable {
				refused.Add(1)
			}
		}
	}
}

// endless is a body of spaces without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{' '}, len(p))), nil }
