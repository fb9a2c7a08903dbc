//go:build unix

package proxy

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
	for _, test := range []struct{ name, body string }{
		{"with a body of a few bytes", "abc"},
		{"with an order", order},
		{"of nearly what is read at once", strings.Repeat("x", readerSize-512)},
	} {
		t.Run(test.name, func(t *testing.T) {
			encrypted := func(conn net.Conn) net.Conn { return &recordsConn{Conn: tls.Server(conn, certified.TLS)} }
			upstream, _ := script(t, encrypted, func(conn net.Conn, r *http.Request, _ int) bool {
				body, err := io.ReadAll(r.Body)
				if n := conn.(*recordsConn).records; n != 1 || err != nil || string(body) != test.body {
					t.Errorf("%d records, %v, %.80q", n, err, body)
				}
				ok(conn, "well")
				return false
			})
			p := stand(t, strings.Replace(upstream, "http:", "https:", 1), nil)
			trust(p, certified)
			if answer, body := fetch(t, caller(t), newRequest(t, "POST", p.url+"/", test.body)); body != "well" {
				t.Errorf("%d %q", answer.StatusCode, body)
			}
		})
	}
}

func TestAClientThatSpeaksNoTLSIsToldSo(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	p := stand(t, certified.URL, func(c *Config) { c.TLS = certified.TLS })
	answer, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/", ""))
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(body, "https://") {
		t.Errorf("%d %q", answer.StatusCode, body)
	}
}

// If the rest of a request were not read, the connection would be reset, and the answer might be lost.
func TestAClientThatSpeaksNoTLSGetsItsWholeAnswerAfterALongRequest(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	p := stand(t, certified.URL, func(c *Config) { c.TLS = certified.TLS })
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n"+strings.Repeat("x", 4096))
		answer, err := io.ReadAll(conn)
		_ = conn.Close()
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.HasSuffix(string(answer), "}\n") {
			t.Fatalf("%v, %q", err, answer)
		}
	}
}
