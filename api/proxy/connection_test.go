package proxy

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// echo answers with the method, the target and the body of a request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header()["Date"] = nil
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
}

func TestRequestsInARowAreAnsweredInOrder(t *testing.T) {
	p := stand(t, service(t, echo).URL, nil)
	got := exchange(t, p.url, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"+
		"POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\ntwo"+
		"POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nthree\r\n0\r\n\r\n"+
		"GET /4 HTTP/1.1\r\nHost: x\r\n\r\n")
	var bodies []string
	for _, answer := range strings.Split(got, "HTTP/1.1 200 OK\r\n")[1:] {
		_, body, _ := strings.Cut(answer, "\r\n\r\n")
		bodies = append(bodies, body)
	}
	if want := "[GET /1  POST /2 two POST /3 three]"; fmt.Sprint(bodies) != want {
		t.Errorf("answered %q, want %s", got, want)
	}
}

func TestAClientOfHTTP10GetsAnAnswerThatItsConnectionEnds(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		w.WriteHeader(http.StatusEarlyHints)
		for range 2 {
			_, _ = io.WriteString(w, "part ")
			_ = http.NewResponseController(w).Flush()
		}
	})
	p := stand(t, upstream.URL, nil)
	got := exchange(t, p.url, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || strings.Contains(got, "chunked") || !strings.HasSuffix(got, "\r\n\r\npart part ") {
		t.Errorf("got %q", got)
	}
}

func TestARequestThatIsNotHTTP11IsRefusedInWords(t *testing.T) {
	p := stand(t, service(t, echo).URL, nil)
	for name, test := range map[string]struct{ raw, status string }{
		"without a host":      {"GET / HTTP/1.1\r\n\r\n", "400"},
		"two hosts":           {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400"},
		"another version":     {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "505"},
		"no words":            {"\x16\x03\x01 is TLS\r\n\r\n", "400"},
		"no target":           {"GET /a\tb HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		"a control character": {"GET / HTTP/1.1\r\nHost: x\r\nX: a\x01b\r\n\r\n", "400"},
	} {
		if got := exchange(t, p.url, test.raw); !strings.HasPrefix(got, "HTTP/1.1 "+test.status) || !strings.Contains(got, "Connection: close") || !strings.Contains(got, `"message":"tillwatch proxy: `) {
			t.Errorf("%s: %q", name, got)
		}
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
				_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", test.length, strings.Repeat("GET /hidden HTTP/1.1\r\n\r\n", test.length)[:test.length])
				_, _ = io.WriteString(conn, "GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			})
			answers, _ := io.ReadAll(conn)
			if got := string(answers); test.kept && !strings.HasPrefix(got, "HTTP/1.1 401") || strings.Contains(got, "hidden") || test.kept != strings.HasSuffix(got, "GET /next ") {
				t.Errorf("got %.300q", got)
			}
		})
	}
}

// A connection that says nothing, or too slowly, ends by itself.
func TestAClientThatSaysNothingIsLeft(t *testing.T) {
	for name, test := range map[string]struct {
		said string
		left time.Duration
	}{
		"from the start":                    {"", headerTimeout},
		"after a request":                   {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", idleTimeout},
		"within a request":                  {"GET / HTTP/1.1\r\nHost:", headerTimeout},
		"after an empty line behind a body": {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, _ *http.Client, toClient *pipes) {
				conn, err := toClient.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if test.said != "" {
					go func() { _, _ = io.WriteString(conn, test.said) }()
				}
				_, _ = io.Copy(io.Discard, conn)
				if took := time.Since(began); took != test.left {
					t.Errorf("left after %v, want %v", took, test.left)
				}
			})
		})
	}
}

func TestARequestThatComesDuringAnotherIsKept(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Minute)
		echo(w, r)
	}
	inMemory(t, handler, func(t *testing.T, _ *http.Client, toClient *pipes) {
		conn, err := toClient.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(conn, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
			time.Sleep(2 * goneAfter)
			_, _ = io.WriteString(conn, "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}()
		answers, err := io.ReadAll(conn)
		if got := string(answers); err != nil || !strings.Contains(got, "GET /1") || !strings.HasSuffix(got, "GET /2 ") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// The times that bound the wait for a request do not bound its answer, nor its body.
func TestAClientThatLeavesIsNoticedHoweverLongItHasWaited(t *testing.T) {
	for name, waited := range map[string]time.Duration{
		"soon": 2 * goneAfter, "after the time for a header": 3 * headerTimeout, "after the time for the next request": 3 * idleTimeout,
	} {
		t.Run(name, func(t *testing.T) {
			var left time.Time
			handler := func(w http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				left = time.Now()
			}
			inMemory(t, handler, func(t *testing.T, _ *http.Client, toClient *pipes) {
				conn, err := toClient.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				time.Sleep(waited)
				conn.Close()
				synctest.Wait()
				if got := left.Sub(began); got != waited {
					t.Errorf("the client left after %v, and the service noticed after %v", waited, got)
				}
			})
		})
	}
}

func TestABodyMayTakeLongerThanTheWaitForARequest(t *testing.T) {
	inMemory(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }, func(t *testing.T, _ *http.Client, toClient *pipes) {
		conn, err := toClient.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\none")
			time.Sleep(3 * idleTimeout)
			_, _ = io.WriteString(conn, "two")
		}()
		answer, _ := io.ReadAll(conn)
		if got := string(answer); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.HasSuffix(got, "\r\n\r\nonetwo") {
			t.Errorf("got %q", got)
		}
	})
}

func TestASlowBodyIsReadOnAfterAnEarlyAnswer(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		time.Sleep(2 * goneAfter) // the proxy watches the client by then
		w.Header()["Content-Length"] = []string{fmt.Sprint(len(r.Method))}
		_, _ = io.WriteString(w, r.Method)
		_ = http.NewResponseController(w).Flush() // the whole answer
		_, _ = io.Copy(io.Discard, r.Body)
	}
	inMemory(t, handler, func(t *testing.T, _ *http.Client, toClient *pipes) {
		conn, err := toClient.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\none")
			time.Sleep(6 * goneAfter)
			_, _ = io.WriteString(conn, "twoGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}()
		answers, _ := io.ReadAll(conn)
		if got := string(answers); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.HasSuffix(got, "\r\n\r\nGET") {
			t.Errorf("got %q", got)
		}
	})
}

// Buffers go from one connection to another. Each client sends and gets letters of its own; some go in between.
func TestNobodyGetsWhatAnotherSent(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	p := stand(t, upstream.URL, nil)
	var clients sync.WaitGroup
	for i := range 16 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			client, letter := caller(t), string(rune('a'+i))
			for range 60 {
				sent := strings.Repeat(letter, []int{1, 300, 5_000, 70_000}[random.IntN(4)])
				halves := io.MultiReader(strings.NewReader(sent[:len(sent)/2]), strings.NewReader(sent[len(sent)/2:]))
				got, whole := askAndPerhapsLeave(t, client, random, http.MethodPost, p.url, halves)
				if whole && got != sent || strings.Trim(got, letter) != "" {
					t.Errorf("%s got %.80q", letter, got)
				}
			}
		})
	}
	clients.Wait()
}

// askAndPerhapsLeave sends a request whose client may leave at any moment. It returns what came of a good answer's
// body, and whether that was all.
func askAndPerhapsLeave(t *testing.T, client *http.Client, random *rand.Rand, method, url string, body io.Reader) (got string, whole bool) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	if random.IntN(4) == 0 {
		time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, leave)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", false
	}
	all, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	return string(all), err == nil && ctx.Err() == nil
}
