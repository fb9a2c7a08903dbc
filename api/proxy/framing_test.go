package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// askedOnce is a request of a client that reads until the proxy closes the connection.
const askedOnce = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

func TestWhatTheServiceSaysCannotMoveTheEndOfAnAnswer(t *testing.T) {
	const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	for name, test := range map[string]struct{ said, begins, lacks, ends string }{
		"its length is of one connection":  {"HTTP/1.1 200 OK\r\nConnection: Content-Length\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n", "chunked", "\r\n\r\n{}"},
		"an interim answer with a length":  {"HTTP/1.1 103 Early Hints\r\nContent-Length: 50\r\nLink: <a>\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK", "Length: 50", "{}"},
		"an interim answer of chunks":      {"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK", "chunked", "{}"},
		"an interim answer for one hop":    {"HTTP/1.1 103 Early Hints\r\nConnection: X\r\nX: 1\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK", "X: 1", "{}"},
		"a line within the reason":         {"HTTP/1.1 200 OK\rX-Split: 1\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "Split", "{}"},
		"a terminal's command as a reason": {"HTTP/1.1 200 \x1b[2J\x00\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "\x1b", "{}"},
		"no reason":                        {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "502", "{}"},
		"a status that nobody knows":       {"HTTP/1.1 499 Odd\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 499 Odd\r\n", "502", "{}"},
		"a status with a sign":             {"HTTP/1.1 +12 Odd\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 502 Bad Gateway\r\n", "+12", "\n"},
		"a status below all":               {"HTTP/1.1 000 None\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 502 Bad Gateway\r\n", "000", "\n"},
		"protocols are switched":           {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 502 Bad Gateway\r\n", "101", "\n"},
		"a trailer nobody announced":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length", "2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := stand(t, raw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, test.said) }), nil)
			if got := exchange(t, p.url, askedOnce); !strings.HasPrefix(got, test.begins) || strings.Contains(got, test.lacks) || !strings.HasSuffix(got, test.ends) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Some clients send an empty line after a body (RFC 9112, section 2.2).
func TestEmptyLinesBeforeARequestAreNone(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "after the answer": time.Minute / 4} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, _ *http.Client, toClient *pipes) {
				conn, err := toClient.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					_, _ = io.WriteString(conn, "\r\nPOST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none")
					time.Sleep(pause)
					_, _ = io.WriteString(conn, "\r\n")
					time.Sleep(pause)
					_, _ = io.WriteString(conn, "\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				}()
				answers, err := io.ReadAll(conn)
				if got := string(answers); err != nil || strings.Contains(got, "400") || !strings.Contains(got, "POST /1 one") || !strings.HasSuffix(got, "GET /2 ") {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}

func TestABodyThatCannotBeReadIsRefusedInWords(t *testing.T) {
	for name, body := range map[string]string{
		"a chunk ended by a bare line feed": "3\none\r\n0\r\n\r\n",
		"a length that is no number":        "three\r\none\r\n0\r\n\r\n",
		"more than the chunk's length":      "2\r\none\r\n0\r\n\r\n",
		"no end of the length":              strings.Repeat("0", 8<<10),
	} {
		t.Run(name, func(t *testing.T) {
			p := stand(t, service(t, echo).URL, nil)
			got := exchange(t, p.url, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
			if !strings.HasPrefix(got, "HTTP/1.1 400 Bad Request\r\n") || !strings.Contains(got, "body of the request cannot be read") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAClientOfHTTP10IsNotAskedForItsBody(t *testing.T) {
	p := stand(t, service(t, echo).URL, nil)
	got := exchange(t, p.url, "POST /1 HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\none")
	if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(got, "POST /1 one") {
		t.Errorf("got %q", got)
	}
}

func TestAClientThatIsNotAskedForItsBodyIsToldThatTheConnectionEnds(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	p := stand(t, upstream.URL, nil)
	got := exchange(t, p.url, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n") {
		t.Errorf("got %q", got)
	}
}

func TestAnAnswerAtTheEndSaysThatItIsTheLast(t *testing.T) {
	arrived, ending := make(chan struct{}), make(chan struct{})
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-ending
		echo(w, r)
	})
	p := stand(t, upstream.URL, nil)
	ended := make(chan error)
	go func() {
		<-arrived
		go func() { ended <- p.end() }()
		for !p.clients.leaving() {
			<-time.After(time.Millisecond)
		}
		close(ending)
	}()
	if got := exchange(t, p.url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.Contains(got, "\r\nConnection: close\r\n") || !strings.HasSuffix(got, "GET / ") {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatTricklesDoesNotWaitForItsEnd(t *testing.T) {
	const parts, pause = 100, 4 * time.Millisecond
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		for range parts {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
	}
	inMemory(t, handler, func(t *testing.T, client *http.Client, _ *pipes) {
		began := time.Now()
		answer, err := client.Do(newRequest(t, "GET", "http://127.0.0.1:2/api/v1/events", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body := bufio.NewReader(answer.Body)
		for i := range parts {
			_, err := body.ReadByte()
			if late := time.Since(began) - time.Duration(i)*pause; err != nil || late > 0 {
				t.Fatalf("part %d came %v late: %v", i, late, err)
			}
		}
	})
}
