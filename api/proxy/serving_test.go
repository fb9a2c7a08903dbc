package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A connection that says nothing, or too slowly, ends by itself.
func TestAClientThatSaysNothingIsLeft(t *testing.T) {
	for name, test := range map[string]struct {
		said string
		left time.Duration
	}{
		"from the start":   {"", headerTimeout},
		"after a request":  {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", idleTimeout},
		"within a request": {"GET / HTTP/1.1\r\nHost:", headerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, toClient *pipes, _ context.CancelFunc) {
				began := time.Now()
				say(t, toClient, test.said)
				if took := time.Since(began); took != test.left {
					t.Errorf("left after %v, want %v", took, test.left)
				}
			})
		})
	}
}

// say says one part after another over a connection of its own, each after a while, and returns what comes back.
func say(t *testing.T, toClient *pipes, parts ...string) string {
	t.Helper()
	conn, err := toClient.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		for i, part := range parts {
			if i > 0 {
				time.Sleep(3 * idleTimeout)
			}
			if part != "" {
				_, _ = io.WriteString(conn, part)
			}
		}
	}()
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Error(err)
	}
	return string(answer)
}

func TestABodyMayTakeLongerThanTheWaitForARequest(t *testing.T) {
	inMemory(t, echo, func(t *testing.T, toClient *pipes, _ context.CancelFunc) {
		got := say(t, toClient, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\none", "two")
		if !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.HasSuffix(got, "POST / onetwo") {
			t.Errorf("got %q", got)
		}
	})
}

func TestWhatIsUnderWayEndsBeforeTheProxyDoes(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-goOn
		_, _ = io.WriteString(w, "whole")
	})
	p := stand(t, upstream.URL, nil)
	ended := make(chan error, 1)
	go func() {
		<-began
		go func() { ended <- p.end() }()
		for { // it takes no more
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				break
			}
			conn.Close()
		}
		close(goOn)
	}()
	if _, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/", "")); body != "whole" {
		t.Errorf("got %q", body)
	}
	if err := <-ended; err != nil || len(p.reported.all()) != 1 {
		t.Errorf("%v, %d observations", err, len(p.reported.all()))
	}
}

func TestARequestOnItsWayAtTheEndIsAnsweredAndTheLastOfItsConnection(t *testing.T) {
	inMemory(t, echo, func(t *testing.T, toClient *pipes, end context.CancelFunc) {
		silent, _ := toClient.dial(t.Context(), "", "")
		defer silent.Close()
		asking, _ := toClient.dial(t.Context(), "", "")
		defer asking.Close()
		synctest.Wait()
		began := time.Now()
		end()
		synctest.Wait()
		time.Sleep(lastRequests / 2) // the way of the request
		if _, err := io.WriteString(asking, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal("a request that was on its way:", err)
		}
		answer, err := io.ReadAll(asking)
		if got := string(answer); err != nil || !strings.Contains(got, "\r\nConnection: close\r\n") ||
			!strings.HasSuffix(got, "POST / {}") {
			t.Errorf("answered %q, %v", got, err)
		}
		asking.Close()
		if _, err := silent.Read(make([]byte, 1)); err != io.EOF || time.Since(began) > time.Second {
			t.Errorf("a client that asks nothing reads %v after %v, want the end", err, time.Since(began))
		}
	})
}

// silence is a connection over which nothing is said.
type silence struct {
	net.Conn
	closed bool
}

func (s *silence) Close() error {
	s.closed = true
	return nil
}

func TestThereAreNeverMoreConnectionsThanTheBound(t *testing.T) {
	p, err := New(Config{Upstream: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.failures.Close()
	all := make([]silence, maxConnections+10)
	for i := range all {
		p.clients.admit(&all[i], http.StateNew)
		if refused := i >= maxConnections; all[i].closed != refused {
			t.Fatalf("connection %d is closed: %v, want %v", i+1, all[i].closed, refused)
		}
	}
	for i := range all {
		p.clients.admit(&all[i], http.StateClosed)
	}
	if p.clients.count() != 0 {
		t.Errorf("%.0f connections are left", p.clients.count())
	}
}
