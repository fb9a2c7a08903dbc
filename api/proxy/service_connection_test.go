//go:build unix

package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func ok(conn net.Conn, body string) bool {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err == nil
}

func TestReadsInARowShareAConnection(t *testing.T) {
	upstream, connections := script(t, inTheClear, func(conn net.Conn, r *http.Request, n int) bool { return ok(conn, fmt.Sprint(n)) })
	p := stand(t, upstream, nil)
	client := caller(t)
	for i := range 20 {
		if answer, body := fetch(t, client, newRequest(t, "GET", p.url+"/", "")); answer.StatusCode != http.StatusOK || body != fmt.Sprint(i+1) {
			t.Errorf("read %d: %d %q", i+1, answer.StatusCode, body)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections to the service for 20 reads in a row", n)
	}
}

func TestAnIdleConnectionThatTheServiceClosedIsNotUsed(t *testing.T) {
	for name, upstream := range map[string]func(http.Handler) *httptest.Server{"in the clear": httptest.NewServer, "encrypted": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			server := upstream(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") }))
			defer server.Close()
			p := stand(t, server.URL, nil)
			trust(p, server)
			client := caller(t)
			for range 20 {
				if answer, body := fetch(t, client, newRequest(t, "GET", p.url+"/", "")); body != "well" {
					t.Fatalf("%d %s", answer.StatusCode, body)
				}
				server.CloseClientConnections()
			}
		})
	}
}

// trust makes a proxy accept the certificate of a service.
func trust(p *standing, service *httptest.Server) {
	if knows := service.Client().Transport.(*http.Transport).TLSClientConfig; knows != nil { // it speaks TLS
		p.service.TLSClientConfig.RootCAs = knows.RootCAs
	}
}

func TestNothingIsSentToAServiceThatDoesNotSpeakHTTP1(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
			server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"another"}}, nil
			}}
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			defer server.Close()
			p := stand(t, server.URL, nil)
			trust(p, server)
			answer, body := fetch(t, caller(t), newRequest(t, method, p.url+"/", ""))
			if answer.StatusCode != http.StatusBadGateway || !strings.Contains(body, "the request was not sent") {
				t.Errorf("%d %s", answer.StatusCode, body)
			}
		})
	}
}

func TestWhatTheServiceSaysUnaskedIsNobodysAnswer(t *testing.T) {
	const well = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"
	const unasked = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nmarked"
	tests := []struct{ name, answer, later string }{
		{"together with an answer", well + unasked, ""},
		{"after an answer", well, unasked},
		{"more than the length of an answer", well + "marked", ""},
		{"an empty line after an answer", well, "\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read, said := make(chan struct{}), make(chan struct{})
			upstream, connections := script(t, inTheClear, func(conn net.Conn, _ *http.Request, n int) bool {
				if n > 1 {
					t.Error("a connection over which something came unasked was used again")
				}
				_, _ = io.WriteString(conn, test.answer)
				<-read
				_, _ = io.WriteString(conn, test.later)
				said <- struct{}{}
				return true
			})
			p := stand(t, upstream, nil)
			client := caller(t)
			for range 10 {
				if answer, body := fetch(t, client, newRequest(t, "GET", p.url+"/", "")); body != "well" {
					t.Errorf("%d %q", answer.StatusCode, body)
				}
				read <- struct{}{}
				<-said
			}
			if n := connections.Load(); n != 10 {
				t.Errorf("%d connections for 10 reads", n)
			}
		})
	}
}

// onePiece gathers what is written until it is sent.
type onePiece struct {
	net.Conn
	gathering bool
	written   []byte
}

func (c *onePiece) Write(part []byte) (int, error) {
	if !c.gathering {
		return c.Conn.Write(part)
	}
	c.written = append(c.written, part...)
	return len(part), nil
}

func (c *onePiece) send() {
	_, _ = c.Conn.Write(c.written)
	c.written, c.gathering = nil, false
}

func TestWhatTheServiceSaysUnaskedInAnotherRecordIsNobodysAnswer(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	encrypted := func(conn net.Conn) net.Conn { return tls.Server(&onePiece{Conn: conn}, certified.TLS) }
	upstream, connections := script(t, encrypted, func(conn net.Conn, _ *http.Request, n int) bool {
		piece := conn.(*tls.Conn).NetConn().(*onePiece)
		piece.gathering = true
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell")
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nmarked")
		piece.send()
		return true
	})
	p := stand(t, strings.Replace(upstream, "http:", "https:", 1), nil)
	trust(p, certified)
	client := caller(t)
	for range 10 {
		if answer, body := fetch(t, client, newRequest(t, "GET", p.url+"/", "")); body != "well" {
			t.Errorf("%d %q", answer.StatusCode, body)
		}
	}
	if n := connections.Load(); n != 10 {
		t.Errorf("%d connections for 10 reads", n)
	}
}

func TestInterimAnswersWithoutEndTakeNoMemory(t *testing.T) {
	p := stand(t, raw(t, func(conn net.Conn) {
		for range 1 << 20 { // it would go on for ever
			if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\n"); err != nil {
				return
			}
		}
	}), nil)
	answer, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/", ""))
	if answer.StatusCode != http.StatusBadGateway || !strings.Contains(body, "the header of its answer is too large") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}

func TestAReadGoesThroughTheProxyOfTheEnvironment(t *testing.T) {
	asked := make(chan string, 1)
	between := service(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r.RequestURI })
	p := stand(t, "http://127.0.0.1:1", nil)
	to, err := url.Parse(between.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.service.Proxy, p.reads.pooled.Proxy = http.ProxyURL(to), http.ProxyURL(to)
	fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events", ""))
	if got := <-asked; got != "http://127.0.0.1:1/api/v1/events" {
		t.Errorf("it was asked for %q", got)
	}
}

func TestIdleConnectionsToTheServiceAreLetGo(t *testing.T) {
	s := newReads(&http.Transport{}, nil, nil)
	idle := func(since time.Duration) net.Conn {
		here, there := net.Pipe()
		t.Cleanup(func() { there.Close() })
		c := s.connection(here, here)
		s.give(c)
		c.since = time.Now().Add(-since)
		return there
	}
	long, short := idle(idleToService+time.Second), idle(idleToService-10*time.Second)
	s.expire()
	if _, err := long.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection that has been idle for long: %v, want its end", err)
	}
	if len(s.idle) != 1 || s.closeIdle(idleToService) <= 9*time.Second || s.closeIdle(idleToService) > 10*time.Second {
		t.Errorf("%d idle connections are kept", len(s.idle))
	}
	for range keptIdle + 1 {
		idle(0)
	}
	if len(s.idle) != keptIdle {
		t.Errorf("%d idle connections are kept, want %d at most", len(s.idle), keptIdle)
	}
	s.expiry.Stop()
	s.closeIdle(0)
	if _, err := short.Read(make([]byte, 1)); err != io.EOF || len(s.idle) > 0 {
		t.Errorf("%d connections after all were closed, %v", len(s.idle), err)
	}
}

func TestNobodyGetsWhatAnotherAskedFor(t *testing.T) {
	for name, upstream := range map[string]func(http.Handler) *httptest.Server{"in the clear": httptest.NewServer, "encrypted": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			server := upstream(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				length := []int{0, 1, 300, 5_000, 70_000}[rand.IntN(5)]
				switch rand.IntN(8) {
				case 0:
					w.Header().Set("Connection", "close")
				case 1:
					panic(http.ErrAbortHandler)
				case 2:
					_ = http.NewResponseController(w).Flush()
				}
				_, _ = io.WriteString(w, strings.Repeat(r.URL.RawQuery, length))
			}))
			defer server.Close()
			p := stand(t, server.URL, nil)
			trust(p, server)
			var clients sync.WaitGroup
			for i := range 16 {
				clients.Go(func() {
					random := rand.New(rand.NewPCG(uint64(i), 8))
					client, letter := caller(t), string(rune('a'+i))
					for range 60 {
						got, _ := askAndPerhapsLeave(t, client, random, http.MethodGet, p.url+"/?"+letter, nil)
						if strings.Trim(got, letter) != "" {
							t.Errorf("%s got %.80q", letter, got)
						}
					}
				})
			}
			clients.Wait()
		})
	}
}

func TestTheServicesNameIsSentAsItsCertificateHasIt(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		t.Run(method, func(t *testing.T) {
			named := make(chan string, 1)
			server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
			server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				named <- hello.ServerName
				return nil, nil
			}}
			server.StartTLS()
			defer server.Close()
			p := stand(t, "https://bücher.example", nil)
			p.service.Proxy = nil
			p.service.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // only the name matters here
			p.service.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			}
			fetch(t, caller(t), newRequest(t, method, p.url+"/", ""))
			if name := <-named; name != "xn--bcher-kva.example" {
				t.Errorf("the service was called %s", name)
			}
		})
	}
}

func TestARequestWithoutAConnectionWasNotSent(t *testing.T) {
	tests := []struct {
		name, why string
		greet     func(net.Conn)
	}{
		{"the service hangs up", "the connection broke", func(conn net.Conn) { _, _ = conn.Read(make([]byte, 64<<10)) }},
		{"the service says nothing", "it took too long", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }},
		{"the service speaks no TLS", "tls: first record does not look like a TLS handshake", func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, "220 ready\r\n")
		}},
	}
	for _, test := range tests {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(test.name+", "+method, func(t *testing.T) {
				p := stand(t, "https://127.0.0.1:1", nil)
				p.service.TLSHandshakeTimeout = 100 * time.Millisecond
				p.service.DialContext = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						test.greet(there)
					}()
					return here, nil
				}
				_, body := fetch(t, caller(t), newRequest(t, method, p.url+"/", ""))
				if !strings.Contains(body, "and the request was not sent: "+test.why) || !strings.Contains(p.log.String(), "sent=false") {
					t.Errorf("answered %s, said %s", body, p.log.String())
				}
			})
		}
	}
}

// unwritable is a connection that may take nothing more.
type unwritable struct {
	net.Conn
	now *atomic.Bool
}

func (c unwritable) Write(part []byte) (int, error) {
	if c.now.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(part)
}

func TestARequestOfWhichNothingWasWrittenWasNotSent(t *testing.T) {
	p := stand(t, service(t, echo).URL, nil)
	var down atomic.Bool
	dial := p.service.DialContext
	p.service.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if down.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		conn, err := dial(ctx, network, address)
		return unwritable{conn, &down}, err
	}
	client := caller(t)
	fetch(t, client, newRequest(t, "POST", p.url+"/", ""))
	down.Store(true)
	if _, body := fetch(t, client, newRequest(t, "POST", p.url+"/", "")); !strings.Contains(body, "and the request was not sent: dial tcp") {
		t.Errorf("answered %s", body)
	}
}

// A service may close an idle connection just as the proxy writes to it: then nobody knows whether it read the request.
func TestWhatMayChangeSomethingMeetsNoConnectionThatTheServiceCloses(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				if r, err := http.ReadRequest(in); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					read.Add(1)
					ok(conn, "done")
					_, _ = in.Peek(1) // the next request has come: it is not read
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		open.Wait()
	})
	p := stand(t, "http://"+ln.Addr().String(), nil)
	client, broken, sent := caller(t), 0, 0
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, key := range []string{"", "once"} {
			for range 10 {
				r := newRequest(t, method, p.url+"/", `{"quantity":1}`)
				if key != "" {
					r.Header.Set("Idempotency-Key", key)
				}
				if answer, body := fetch(t, client, r); answer.StatusCode != http.StatusOK || body != "done" {
					broken++
				}
				sent++
			}
		}
	}
	if broken > 0 || int(read.Load()) != sent {
		t.Errorf("of %d requests, %d were answered with an error; the service read %d", sent, broken, read.Load())
	}
}
