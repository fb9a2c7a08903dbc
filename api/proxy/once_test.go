package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func ok(conn net.Conn, body string) bool {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err == nil
}

// net/http sends a request without a body again by itself over another connection, if the one that broke has been used
// before, and the request has an Idempotency-Key or a method that changes nothing.
func TestNothingIsSentTwice(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]int{}
			upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
				once := r.Header.Get("Idempotency-Key")
				if once == "" {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				asked[once]++
				_, length := r.Header["Content-Length"]
				if expected := method == "POST" || method == "PUT"; length != expected || len(r.TransferEncoding) > 0 {
					t.Errorf("%s: Content-Length %v, Transfer-Encoding %v", once, length, r.TransferEncoding)
				}
				panic(http.ErrAbortHandler)
			})
			p := stand(t, upstream.URL, nil)
			client := caller(t)
			for i := range 20 {
				fetch(t, client, newRequest(t, "GET", p.url+"/", "")) // opens a connection, or keeps one
				r := newRequest(t, method, p.url+"/api/v1/checkout-intents/ci_1/confirm", "")
				r.Header["idempotency-key"] = []string{fmt.Sprint("once-", i)} // so that the client itself does not
				answer, body := fetch(t, client, r)
				const said = "whether it acted is not known: the connection broke"
				if answer.StatusCode != http.StatusBadGateway || method != "HEAD" && !strings.Contains(body, said) {
					t.Errorf("answered %d %s", answer.StatusCode, body)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range 20 {
				if n := asked[fmt.Sprint("once-", i)]; n != 1 {
					t.Errorf("request %d was sent %d times", i, n)
				}
			}
			if err := p.end(); err != nil || len(p.reported.all()) != 40 {
				t.Errorf("%d observations of 40 requests, %v", len(p.reported.all()), err)
			}
		})
	}
}

// A client whose reused connection ends without a byte of an answer sends the request again by itself.
func TestACutAnswerBeginsSoThatNoClientAsksAgain(t *testing.T) {
	for _, came := range []string{"", "12345678"} {
		t.Run(fmt.Sprint(len(came), " bytes"), func(t *testing.T) {
			var asked atomic.Int64
			upstream, _ := script(t, inTheClear, func(conn net.Conn, r *http.Request, _ int) bool {
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Method == http.MethodGet {
					return ok(conn, "kept")
				}
				asked.Add(1)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"+came)
				return false
			})
			p := stand(t, upstream, nil)
			client := caller(t)
			fetch(t, client, newRequest(t, "GET", p.url+"/", "")) // opens a connection, which is kept
			r := newRequest(t, "POST", p.url+"/", `{"quantity":1}`)
			r.Header.Set("Idempotency-Key", "once")
			answer, err := client.Do(r)
			if err != nil {
				t.Fatalf("after %d requests: %v", asked.Load(), err)
			}
			defer answer.Body.Close()
			got, err := io.ReadAll(answer.Body)
			if answer.StatusCode != http.StatusOK || string(got) != came || err == nil || asked.Load() != 1 {
				t.Errorf("%d requests, answered %d %q, %v", asked.Load(), answer.StatusCode, got, err)
			}
		})
	}
}

// A service may close an idle connection just as the proxy writes to it: then nobody knows whether it read the request.
func TestWhatMayChangeSomethingMeetsNoConnectionThatTheServiceCloses(t *testing.T) {
	upstream, connections := script(t, inTheClear, func(conn net.Conn, r *http.Request, n int) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		return n == 1 && ok(conn, "done") // the next request on the connection is never answered
	})
	p := stand(t, upstream, nil)
	client, sent := caller(t), int64(0)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, key := range []string{"", "once"} {
			for range 5 {
				r := newRequest(t, method, p.url+"/", `{"quantity":1}`)
				if key != "" {
					r.Header.Set("Idempotency-Key", key)
				}
				if answer, body := fetch(t, client, r); answer.StatusCode != http.StatusOK || body != "done" {
					t.Errorf("%s: %d %s", method, answer.StatusCode, body)
				}
				sent++
			}
		}
	}
	if n := connections.Load(); n != sent {
		t.Errorf("%d connections for %d requests", n, sent)
	}
}

func TestReadsInARowShareAConnection(t *testing.T) {
	upstream, connections := script(t, inTheClear, func(conn net.Conn, _ *http.Request, n int) bool {
		return ok(conn, fmt.Sprint(n))
	})
	p := stand(t, upstream, nil)
	client := caller(t)
	for i := range 20 {
		answer, body := fetch(t, client, newRequest(t, "GET", p.url+"/", ""))
		if answer.StatusCode != http.StatusOK || body != fmt.Sprint(i+1) {
			t.Errorf("read %d: %d %q", i+1, answer.StatusCode, body)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections to the service for 20 reads in a row", n)
	}
}

// recordsConn counts the records that are read from a TLS connection.
type recordsConn struct {
	net.Conn
	records int
}

func (c *recordsConn) Read(part []byte) (int, error) {
	c.records++ // a read returns no more than one
	return c.Conn.Read(part)
}

// A service that refuses a request by its header, and closes, would get the rest on a closed connection: that breaks
// it before the proxy has read the answer.
func TestASmallRequestGoesOutInOnePiece(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	for name, sent := range map[string]string{
		"a few bytes": "abc", "an order": strings.Repeat("order", 200), "a full buffer": strings.Repeat("x", 3500),
	} {
		t.Run(name, func(t *testing.T) {
			encrypted := func(conn net.Conn) net.Conn { return &recordsConn{Conn: tls.Server(conn, certified.TLS)} }
			upstream, _ := script(t, encrypted, func(conn net.Conn, r *http.Request, _ int) bool {
				body, err := io.ReadAll(r.Body)
				if n := conn.(*recordsConn).records; n != 1 || err != nil || string(body) != sent {
					t.Errorf("%d records, %v, %.80q", n, err, body)
				}
				ok(conn, "well")
				return false
			})
			p := stand(t, strings.Replace(upstream, "http:", "https:", 1), nil)
			trust(p, certified)
			if answer, body := fetch(t, caller(t), newRequest(t, "POST", p.url+"/", sent)); body != "well" {
				t.Errorf("%d %q", answer.StatusCode, body)
			}
		})
	}
}

// Over HTTP/2, net/http would send what the service refuses again, too.
func TestTheServiceIsSpokenToInHTTP1(t *testing.T) {
	spoken := make(chan string, 1)
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		spoken <- r.Proto
	}))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	defer upstream.Close()
	p := stand(t, upstream.URL, nil)
	trust(p, upstream)
	for _, method := range []string{"GET", "POST"} {
		fetch(t, caller(t), newRequest(t, method, p.url+"/api/v1/events", ""))
		if proto := <-spoken; proto != "HTTP/1.1" {
			t.Errorf("the service is spoken to in %s", proto)
		}
	}
}

func TestNothingIsSentToAServiceThatDoesNotSpeakHTTP1(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("it was asked")
			}))
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
