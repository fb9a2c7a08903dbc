package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener in memory, whose connections count what is written to them.
type pipes struct {
	opened chan net.Conn
	closed chan struct{}
	writes atomic.Int64
}

func newPipes() *pipes { return &pipes{opened: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.opened:
		return counted{c, &p.writes}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.opened <- there
	return here, nil
}

type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(part []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(part)
}

// inMemory has a client ask a service through a proxy, all over pipes.
func inMemory(t *testing.T, handler http.HandlerFunc, use func(t *testing.T, client *http.Client, toClient *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		toService, toClient := newPipes(), newPipes()
		upstream := &http.Server{Handler: handler}
		served := make(chan error, 2)
		go func() { served <- upstream.Serve(toService) }()
		p, err := New(Config{Upstream: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		p.service.DialContext = toService.dial
		ctx, end := context.WithCancel(t.Context())
		go func() { served <- p.Serve(ctx, toClient) }()
		transport := &http.Transport{DialContext: toClient.dial}
		use(t, &http.Client{Transport: transport}, toClient)
		transport.CloseIdleConnections()
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

func TestAnAnswerThatComesInOnePieceGoesOutInOnePiece(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "13")
		_, _ = io.WriteString(w, `{"id":"ci_1"}`)
	}
	inMemory(t, handler, func(t *testing.T, client *http.Client, toClient *pipes) {
		for range 3 {
			if _, body := fetch(t, client, newRequest(t, "GET", "http://127.0.0.1:2/api/v1/events", "")); body != `{"id":"ci_1"}` {
				t.Errorf("got %q", body)
			}
		}
		if n := toClient.writes.Load(); n != 3 {
			t.Errorf("3 answers were written in %d pieces", n)
		}
	})
}

func TestASlowAnswerPassesAsItComes(t *testing.T) {
	for name, test := range map[string]struct{ method, length string }{
		"of known length": {"GET", "8"}, "of unknown length": {"GET", ""}, "over a connection of net/http": {"POST", "8"},
	} {
		t.Run(name, func(t *testing.T) {
			handler := func(w http.ResponseWriter, r *http.Request) {
				if test.length != "" {
					w.Header().Set("Content-Length", test.length)
				}
				for _, part := range []string{"one\n", "two\n"} { // the header alone first
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Minute)
					_, _ = io.WriteString(w, part)
				}
			}
			inMemory(t, handler, func(t *testing.T, client *http.Client, _ *pipes) {
				began := time.Now()
				answer, err := client.Do(newRequest(t, test.method, "http://127.0.0.1:2/api/v1/events", ""))
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				if waited := time.Since(began); waited > 0 {
					t.Errorf("the header came after %v", waited)
				}
				lines := bufio.NewReader(answer.Body)
				for i, want := range []string{"one\n", "two\n"} {
					line, err := lines.ReadString('\n')
					if waited := time.Since(began) - time.Duration(i+1)*time.Minute; line != want || waited > 0 {
						t.Errorf("%q, %v came %v late", line, err, waited)
					}
				}
				if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
					t.Errorf("at the end %q, %v", rest, err)
				}
			})
		})
	}
}
