package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api/quota"
)

// heap is what is in use, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

func TestAHostileServiceLearnsNothingAndTakesNoMemory(t *testing.T) {
	const intent = `{"id":"ci_1","state":"completed","referenceId":"order-1"}`
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	endless := func(conn net.Conn, line string) {
		for range 64 << 20 / len(line) { // it would go on for ever
			if _, err := io.WriteString(conn, line); err != nil {
				return
			}
		}
	}
	tests := []struct {
		name   string
		say    func(net.Conn)
		status int
		named  bool // the intent is taken from the answer
	}{
		{"a header without end", func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			endless(c, "X-More: "+strings.Repeat("x", 1000)+"\r\n")
		}, 502, false},
		{"what is no HTTP", func(c net.Conn) { _, _ = io.WriteString(c, "marked-buyer is no answer\r\n\r\n") }, 502, false},
		{"two lengths", func(c net.Conn) {
			_, _ = io.WriteString(c, head+"Content-Length: 5\r\nContent-Length: 500\r\n\r\n"+intent)
		}, 502, false},
		{"64 MB", func(c net.Conn) {
			_, _ = fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n", head, 64<<20)
			endless(c, strings.Repeat(" ", 1<<10))
		}, 200, false},
		{"a length and chunks, and an answer to nobody behind it", func(c net.Conn) {
			const both = head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
			_, _ = fmt.Fprintf(c, "%s%x\r\n%s\r\n0\r\n\r\n%sContent-Length: 2\r\n\r\n{}", both, len(intent), intent, head)
		}, 200, true},
		{"a thousand limits", func(c net.Conn) {
			limits := strings.Repeat(`"a";r=1;t=1, `, 1000) + `"b";r=1;t=1`
			_, _ = io.WriteString(c, head+"RateLimit: "+limits+"\r\nContent-Length: 2\r\n\r\n{}")
		}, 200, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := stand(t, raw(t, test.say), nil)
			before := heap()
			answer, err := caller(t).Do(newRequest(t, "GET", p.url+"/api/v1/checkout-intents/ci_1", ""))
			if err != nil {
				t.Fatal(err)
			}
			n, _ := io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if grown := heap() - before; grown > 8 {
				t.Errorf("%.1f MB were kept of %d bytes", grown, n)
			}
			if answer.StatusCode != test.status {
				t.Errorf("status %d, want %d", answer.StatusCode, test.status)
			}
			if err := p.end(); err != nil {
				t.Fatal(err)
			}
			seen := p.reported.all()
			if len(seen) != 1 || test.named != (seen[0].IntentID == "ci_1") || len(seen[0].Reports) > 0 ||
				strings.Contains(p.log.String(), "marked") {
				t.Errorf("observed %+v, said %s", seen, p.log.String())
			}
		})
	}
}

func TestAHostileClientReachesTheServiceWithNothingHidden(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.RequestURI+" "+string(body))
	})
	p := stand(t, upstream.URL, nil)
	const hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, test := range map[string]struct{ raw, status string }{
		"a length and chunks":         {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, "200"},
		"chunks, told oddly":          {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden, "501"},
		"two lengths":                 {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n" + hidden, "400"},
		"a length with a sign":        {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd" + hidden, "400"},
		"a space before a colon":      {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\n\r\nabcd" + hidden, "400"},
		"a folded header":             {"POST /a HTTP/1.1\r\nHost: x\r\nX: 1\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" + hidden, "200"},
		"a header of 1 MB":            {"GET /a HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "431"},
		"a chunk larger than a chunk": {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + hidden, ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.WriteString(conn, test.raw) // it may refuse before it has all
			answer, _ := io.ReadAll(conn)
			if test.status != "" && !strings.HasPrefix(string(answer), "HTTP/1.1 "+test.status) ||
				strings.Count(string(answer), "HTTP/1.1 ") > 1 {
				t.Errorf("answered %q, want %s and nothing else", answer[:min(len(answer), 300)], test.status)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	for _, one := range asked {
		if strings.Contains(one, "hidden") {
			t.Errorf("the service was asked %q", one)
		}
	}
}

// askedOnce is a request of a client that reads until the proxy closes the connection.
const askedOnce = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

func TestWhatTheServiceSaysCannotMoveTheEndOfAnAnswer(t *testing.T) {
	const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	for name, test := range map[string]struct{ said, begins, lacks, ends string }{
		"its length is of one connection":  {"HTTP/1.1 200 OK\r\nConnection: Content-Length\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "Content-Length", "2\r\n{}\r\n0\r\n\r\n"},
		"an interim answer with a length":  {"HTTP/1.1 103 Early Hints\r\nContent-Length: 50\r\nLink: <a>\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK", "Length: 50", "{}"},
		"an interim answer of chunks":      {"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK", "chunked", "{}"},
		"an interim answer for one hop":    {"HTTP/1.1 103 Early Hints\r\nConnection: X\r\nX: 1\r\n\r\n" + plain, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK", "X: 1", "{}"},
		"a line within the reason":         {"HTTP/1.1 200 OK\rX-Split: 1\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "Split", "{}"},
		"a terminal's command as a reason": {"HTTP/1.1 200 \x1b[2J\x00\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "\x1b", "{}"},
		"no reason":                        {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\n", "502", "{}"},
		"a status that nobody knows":       {"HTTP/1.1 499 Odd\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 499 ", "502", "{}"},
		"a status with a sign":             {"HTTP/1.1 +12 Odd\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 502 Bad Gateway\r\n", "+12", "\n"},
		"a status below all":               {"HTTP/1.1 000 None\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 502 Bad Gateway\r\n", "000", "\n"},
		"protocols are switched":           {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 502 Bad Gateway\r\n", "101", "\n"},
		"a trailer nobody announced":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length", "2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := stand(t, raw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, test.said) }), nil)
			got := exchange(t, p.url, askedOnce)
			if !strings.HasPrefix(got, test.begins) || strings.Contains(got, test.lacks) || !strings.HasSuffix(got, test.ends) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestNoSecretAppearsAnywhere looks for marked values in all that a proxy reports.
func TestNoSecretAppearsAnywhere(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit", `"default";r=9;t=1;pk=:bWFya2Vk:`)
		if strings.Contains(r.URL.Path, "refused") {
			w.WriteHeader(http.StatusUnauthorized)
		}
		if strings.Contains(r.URL.Path, "broken") {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"id":"ci_1","state":"failed","buyer":{"email":"marked-buyer@example"},"paymentMethod":{"vaultToken":"marked-token"},"failureReason":{"message":"marked-words"}}`)
	})
	p := stand(t, upstream.URL, nil)
	client := caller(t)
	for _, path := range []string{
		"/api/v1/checkout-intents", "/api/v1/checkout-intents/marked-id?token=marked-query", "/marked-path/refused", "/api/v1/marked-refused", "/api/v1/broken/marked",
		"/api/v1/products/lookup?url=https://marked.example",
	} {
		for _, method := range []string{"GET", "POST"} {
			r := newRequest(t, method, p.url+path, `{"buyer":{"email":"marked-buyer@example"},"paymentMethod":{"vaultToken":"marked-token"}}`)
			r.Header.Set("Authorization", "Bearer marked-key")
			r.Header.Set("Cookie", "session=marked-cookie")
			r.Header.Set("Idempotency-Key", "marked-once")
			r.Header.Set("User-Agent", "shop/1 (marked-key)")
			fetch(t, client, r)
		}
	}
	scrape := httptest.NewRecorder()
	p.Metrics().ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	seen := p.reported.all()
	if len(seen) != 12 || seen[0].Class != quota.Reads {
		t.Fatalf("%d observations of 12 requests", len(seen))
	}
	for name, text := range map[string]string{
		"log": p.log.String(), "metrics": scrape.Body.String(), "observations": fmt.Sprintf("%+v", seen),
	} {
		if text == "" || strings.Contains(text, "marked") || strings.Contains(text, "bWFya2Vk") {
			t.Errorf("the %s: %s", name, text)
		}
	}
}
