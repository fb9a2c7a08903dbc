package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestAClientOfHTTP10GetsAnAnswerThatItsConnectionEnds(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.WriteHeader(http.StatusEarlyHints)
		for range 2 {
			_, _ = w.Write(body)
			_ = http.NewResponseController(w).Flush()
		}
	})
	p := stand(t, upstream.URL, nil)
	got := exchange(t, p.url,
		"POST / HTTP/1.0\r\nExpect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\npart")
	if !strings.HasPrefix(got, "HTTP/1.0 200 OK\r\nConnection: close\r\n") || strings.Contains(got, "chunked") ||
		!strings.HasSuffix(got, "\r\n\r\npartpart") {
		t.Errorf("got %q", got)
	}
}

func TestABodyThatTheServiceDoesNotReadIsNotTheNextRequest(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			echo(w, r)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	for name, test := range map[string]struct {
		length int
		kept   bool
	}{"a small one": {100 << 10, true}, "a large one": {32 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			p := stand(t, upstream.URL, nil)
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var said sync.WaitGroup
			defer said.Wait()
			said.Go(func() { // the proxy may break off before it has all
				_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", test.length)
				_, _ = io.WriteString(conn, strings.Repeat("GET /hidden HTTP/1.1\r\n\r\n", test.length)[:test.length])
				_, _ = io.WriteString(conn, "GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			})
			answers, _ := io.ReadAll(conn)
			if got := string(answers); test.kept && !strings.HasPrefix(got, "HTTP/1.1 401") ||
				strings.Contains(got, "hidden") || test.kept != strings.HasSuffix(got, "GET /next ") {
				t.Errorf("got %.300q", got)
			}
		})
	}
}

func TestABodyThatCannotBeReadIsRefusedInWords(t *testing.T) {
	for name, body := range map[string]string{
		"a chunk ended by a bare line feed": "3\none\r\n0\r\n\r\n",
		"a length that is no number":        "three\r\none\r\n0\r\n\r\n",
		"more than the chunk's length":      "2\r\none\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := stand(t, service(t, echo).URL, nil)
			got := exchange(t, p.url, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
			if !strings.HasPrefix(got, "HTTP/1.1 400 Bad Request\r\n") ||
				!strings.Contains(got, "body of the request cannot be read") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestWhatIsNoRequestToTheServiceIsRefusedInWords(t *testing.T) {
	var asked atomic.Bool
	upstream := service(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
	p := stand(t, upstream.URL, nil)
	for name, test := range map[string]struct{ raw, want string }{
		"a websocket":    {"GET /v1/stream HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n", "501"},
		"a tunnel":       {"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n", "400"},
		"another host's": {"GET http://elsewhere.example/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", "400"},
	} {
		answer := exchange(t, p.url, strings.Replace(test.raw, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
		if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) || !strings.Contains(answer, `"message":"tillwatch proxy: this`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if asked.Load() {
		t.Error("the service was asked")
	}
}

func TestAnUpgradeThatNobodyInsistsOnIsLeftOut(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%v%v", r.Header["Upgrade"], r.Header["Http2-Settings"])
	})
	p := stand(t, upstream.URL, nil)
	answer := exchange(t, p.url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"+
		"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.HasSuffix(answer, "[][]") {
		t.Errorf("got %s", answer)
	}
}

func TestAnAnswerPassesBeforeTheRequestHasEnded(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		answer := http.NewResponseController(w)
		_ = answer.EnableFullDuplex()
		w.WriteHeader(http.StatusAccepted)
		for part, err := make([]byte, 100), error(nil); err == nil; {
			_ = answer.Flush()
			var n int
			n, err = r.Body.Read(part)
			_, _ = w.Write(part[:n])
		}
	})
	p := stand(t, upstream.URL, nil)
	body, rest := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", p.url+"/api/v1/checkout-intents", body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := caller(t).Do(r)
	if err != nil || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("%v, %v", answer, err)
	}
	defer answer.Body.Close()
	echo := bufio.NewReader(answer.Body)
	for _, line := range []string{"one\n", "two\n"} { // each passes before the next is sent
		_, _ = io.WriteString(rest, line)
		if got, err := echo.ReadString('\n'); got != line {
			t.Fatalf("got %q, %v; want %q", got, err, line)
		}
	}
	rest.Close()
	if end, err := io.ReadAll(echo); len(end) != 0 || err != nil {
		t.Errorf("at the end %q, %v", end, err)
	}
}

func TestASlowAnswerPassesAsItComes(t *testing.T) {
	for name, length := range map[string]string{"of known length": "8", "of unknown length": ""} {
		t.Run(name, func(t *testing.T) {
			handler := func(w http.ResponseWriter, r *http.Request) {
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				for _, part := range []string{"one\n", "two\n"} { // the header alone first
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Minute)
					_, _ = io.WriteString(w, part)
				}
			}
			inMemory(t, handler, func(t *testing.T, toClient *pipes, _ context.CancelFunc) {
				client := &http.Client{Transport: &http.Transport{DialContext: toClient.dial, DisableKeepAlives: true}}
				began := time.Now()
				answer, err := client.Do(newRequest(t, "GET", "http://127.0.0.1:2/api/v1/events", ""))
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				lines := bufio.NewReader(answer.Body)
				for i, want := range []string{"", "one\n", "two\n"} {
					line := ""
					if want != "" {
						line, err = lines.ReadString('\n')
					}
					if late := time.Since(began) - time.Duration(i)*time.Minute; line != want || err != nil || late > flushAfter {
						t.Errorf("%q, %v came %v late", line, err, late)
					}
				}
				if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
					t.Errorf("at the end %q, %v", rest, err)
				}
			})
		})
	}
}

func TestABodyIsSentOnlyWhenTheServiceWantsIt(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.Copy(w, r.Body)
	})
	p := stand(t, upstream.URL, nil)
	const ask = "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n%s\r\n"
	if got := exchange(t, p.url, fmt.Sprintf(ask, "refuse", "")); !strings.HasPrefix(got, "HTTP/1.1 401") ||
		!strings.Contains(got, "\r\nConnection: close\r\n") {
		t.Errorf("refused with %q", got)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, ask, "take", "Connection: close\r\n")
	from := bufio.NewReader(conn)
	if line, err := from.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q, %v", line, err)
	}
	_, _ = io.WriteString(conn, "body")
	rest, err := io.ReadAll(from)
	if got := string(rest); err != nil || !strings.HasPrefix(got, "\r\nHTTP/1.1 200") || !strings.HasSuffix(got, "body") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheServiceHearsThatAClientHasGone(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	p := stand(t, upstream.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := caller(t).Do(newRequest(t, "GET", p.url+"/api/v1/events", "").WithContext(ctx)); err == nil {
		t.Error("an answer came")
	}
	<-ended
	if err := p.end(); err != nil || len(p.reported.all()) != 1 || strings.Contains(p.log.String(), "no answer") {
		t.Errorf("%v, %+v, %s", err, p.reported.all(), p.log.String())
	}
}
