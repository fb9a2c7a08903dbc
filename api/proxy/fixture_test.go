package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tillwatch/api/quota"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watching keeps what was observed.
type watching struct {
	mu   sync.Mutex
	seen []quota.Observation
}

func (w *watching) observe(batch []quota.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, batch...)
}

func (w *watching) all() []quota.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]quota.Observation(nil), w.seen...)
}

// words is a log that can be read while it is written.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// standing is a proxy that serves on loopback.
type standing struct {
	*Proxy
	url      string
	log      words
	reported watching
	end      func() error // returns what serving did
}

// stand serves a proxy before an address until the test ends.
func stand(t testing.TB, upstream string, change func(*Config)) *standing {
	t.Helper()
	s := &standing{}
	logger := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := Config{Upstream: upstream, Observe: s.reported.observe, Logger: logger}
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Proxy, s.url = p, "http://"+ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, ln) }()
	s.end = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() { _ = s.end() })
	return s
}

// service answers with a handler until the test ends.
func service(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func inTheClear(conn net.Conn) net.Conn { return conn }

// script is a service that answers the requests of each connection by their number until the test ends. It counts
// the connections.
func script(
	t *testing.T, over func(net.Conn) net.Conn, answer func(conn net.Conn, r *http.Request, n int) (more bool),
) (url string, connections *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int64)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			open.Go(func() {
				conn := over(conn)
				defer conn.Close()
				in := bufio.NewReader(conn)
				for n := 1; ; n++ {
					r, err := http.ReadRequest(in)
					if err != nil || !answer(conn, r, n) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		open.Wait()
	})
	return "http://" + ln.Addr().String(), connections
}

// raw is a service that says whatever it likes to the first request of a connection, until the test ends.
func raw(t *testing.T, say func(net.Conn)) (url string) {
	t.Helper()
	url, _ = script(t, inTheClear, func(conn net.Conn, _ *http.Request, _ int) bool {
		say(conn)
		return false
	})
	return url
}

// trust makes a proxy accept the certificate of a service.
func trust(p *standing, service *httptest.Server) {
	pool := x509.NewCertPool()
	pool.AddCert(service.Certificate())
	p.service.fresh.TLSClientConfig.RootCAs, p.service.shared.TLSClientConfig.RootCAs = pool, pool
}

// reach makes a proxy connect to the service by a function.
func (p *Proxy) reach(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	p.service.fresh.DialContext, p.service.shared.DialContext = dial, dial
}

// pipes is a listener in memory.
type pipes struct {
	opened chan net.Conn
	closed context.Context
	close  context.CancelFunc
}

func newPipes() *pipes {
	p := &pipes{opened: make(chan net.Conn)}
	p.closed, p.close = context.WithCancel(context.Background())
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.opened:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.opened <- there
	return here, nil
}

// inMemory has a client ask a service through a proxy, all over pipes. The proxy ends at the end of use, or at a call
// of end.
func inMemory(t *testing.T, handler http.HandlerFunc, use func(t *testing.T, toClient *pipes, end context.CancelFunc)) {
	synctest.Test(t, func(t *testing.T) {
		toService, toClient := newPipes(), newPipes()
		upstream := &http.Server{Handler: handler}
		served := make(chan error, 2)
		go func() { served <- upstream.Serve(toService) }()
		p, err := New(Config{Upstream: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		p.reach(toService.dial)
		ctx, end := context.WithCancel(t.Context())
		go func() { served <- p.Serve(ctx, toClient) }()
		use(t, toClient, end)
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := upstream.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// caller is a client with connections of its own.
func caller(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, ExpectContinueTimeout: 5 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

// fetch sends a request and reads its answer whole.
func fetch(t testing.TB, client *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func newRequest(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exchange sends bytes over a connection of its own and returns what comes back
// until the other side closes, or after two answers' time.
func exchange(t testing.TB, url, raw string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", got, err)
	}
	return string(got)
}

// echo answers with the method, the target and the body of a request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header()["Date"] = nil
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
}
