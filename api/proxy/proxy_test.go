package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tillwatch/api/quota"
)

func TestWhatPassesIsReportedOnceAndInOrder(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit-Policy", `"default";q=5;w=1`)
		w.Header().Set("RateLimit", `"default";r=4;t=1`)
		_, _ = io.WriteString(w, `{"id":"ci_1","state":"retrieving_offer","referenceId":"order-1"}`)
	})
	p := stand(t, upstream.URL, nil)
	client := caller(t)
	for _, path := range []string{"/api/v1/checkout-intents", "/api/v1/checkout-intents/ci_1/confirm"} {
		r := newRequest(t, "POST", p.url+path, "{}")
		r.Header.Set("User-Agent", "shop/1")
		r.Header.Set("Authorization", "Bearer a-key-of-the-shop")
		fetch(t, client, r)
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	seen := p.reported.all()
	if len(seen) != 2 || seen[0].Endpoint != "/api/v1/checkout-intents" || seen[1].Endpoint != "/api/v1/checkout-intents/{id}/confirm" || seen[0].ID == seen[1].ID {
		t.Fatalf("got %+v", seen)
	}
	if o := seen[0]; o.Class != quota.Mutations || o.Status != 200 || o.Spender != "shop/1" || o.Key == "" || o.IntentID != "ci_1" || o.State != "retrieving_offer" || o.Reference != "order-1" || len(o.Reports) != 1 || o.Reports[0].Remaining != 4 {
		t.Errorf("got %+v", o)
	}
}

func TestTheServiceIsReachedBelowThePathOfItsBaseURL(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+" "+r.RequestURI) })
	p := stand(t, upstream.URL+"/gateway/", nil)
	_, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events/evt%2F1%7c?a=%zz;b&c", ""))
	if want := strings.TrimPrefix(upstream.URL, "http://") + " /gateway/api/v1/events/evt%2F1%7c?a=%zz;b&c"; body != want {
		t.Errorf("the service was asked for %s, want %s", body, want)
	}
	if err := p.end(); err != nil || p.reported.all()[0].Endpoint != "/api/v1/events/{id}" {
		t.Errorf("%v, %+v", err, p.reported.all())
	}
}

func TestAServiceThatIsDownIsAnsweredForAndSaid(t *testing.T) {
	upstream := service(t, nil)
	upstream.Close()
	p := stand(t, upstream.URL, nil)
	client := caller(t)
	for range 20 {
		answer, body := fetch(t, client, newRequest(t, "POST", p.url+"/api/v1/checkout-intents", "{}"))
		var told struct{ Name, Message string }
		if err := json.Unmarshal([]byte(body), &told); err != nil || answer.StatusCode != http.StatusBadGateway || told.Name != "BadGatewayError" ||
			!strings.Contains(told.Message, "cannot be reached, and the request was not sent") || !strings.Contains(answer.Header.Get("Content-Type"), "json") {
			t.Fatalf("%d %s, %v", answer.StatusCode, body, err)
		}
	}
	if n := strings.Count(p.log.String(), "the service gave no answer"); n != 1 {
		t.Errorf("20 failures were said %d times: %s", n, p.log.String())
	}
	if err := p.end(); err != nil || len(p.reported.all()) != 20 || p.reported.all()[0].Status != 0 {
		t.Errorf("%v, %d observations", err, len(p.reported.all()))
	}
	if !strings.Contains(p.log.String(), "more_since_last=19") {
		t.Errorf("the others were not counted: %s", p.log.String())
	}
}

func TestAServiceThatBreaksOffMayHaveActed(t *testing.T) {
	var asked atomic.Int64
	upstream := service(t, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	})
	p := stand(t, upstream.URL, nil)
	r := newRequest(t, "POST", p.url+"/api/v1/checkout-intents/ci_1/confirm", "")
	r.Header.Set("Idempotency-Key", "once")
	answer, body := fetch(t, caller(t), r)
	if answer.StatusCode != http.StatusBadGateway || !strings.Contains(body, "whether it acted is not known: the connection broke") || asked.Load() != 1 {
		t.Errorf("%d %s, asked %d times", answer.StatusCode, body, asked.Load())
	}
}

// net/http sends a request without a body again by itself over another connection,
// if the one that broke has been used before, and the request has an
// Idempotency-Key or a method that changes nothing.
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
					t.Errorf("%s: Content-Length %v, Transfer-Encoding %v", once, r.Header["Content-Length"], r.TransferEncoding)
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
				if answer.StatusCode != http.StatusBadGateway || method != "HEAD" && !strings.Contains(body, "the connection broke") {
					t.Errorf("answered %d %s", answer.StatusCode, body)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(asked) != 20 {
				t.Errorf("the service was asked %d of 20 requests", len(asked))
			}
			for once, n := range asked {
				if n != 1 {
					t.Errorf("%s was sent %d times", once, n)
				}
			}
			if err := p.end(); err != nil {
				t.Fatal(err)
			}
			if seen := len(p.reported.all()); seen != 40 {
				t.Errorf("%d observations of 40 requests", seen)
			}
		})
	}
}

// Over HTTP/2, net/http would send what the service refuses again, too.
func TestTheServiceIsSpokenToInHTTP1(t *testing.T) {
	spoken := make(chan string, 1)
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spoken <- r.Proto }))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	defer upstream.Close()
	p := stand(t, upstream.URL, nil)
	p.service.TLSClientConfig = upstream.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	p.service.TLSClientConfig.NextProtos = nil
	fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events", ""))
	if proto := <-spoken; proto != "HTTP/1.1" {
		t.Errorf("the service is spoken to in %s", proto)
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
	answer := exchange(t, p.url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.HasSuffix(answer, "[][]") {
		t.Errorf("got %s", answer)
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

func TestAClientHearsThatTheServiceHasGone(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	p := stand(t, upstream.URL, nil)
	answer, err := caller(t).Do(newRequest(t, "GET", p.url+"/api/v1/events", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); string(body) != "half" || err == nil {
		t.Errorf("got %q, %v; want half, and that it broke off", body, err)
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

func TestABodyIsSentOnlyWhenTheServiceWantsIt(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.Copy(w, r.Body)
	})
	p := stand(t, upstream.URL, nil)
	ask := "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
	for _, path := range []string{"refuse", "take"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, ask, path)
		from := bufio.NewReader(conn)
		line, err := from.ReadString('\n')
		if path == "refuse" {
			if !strings.HasPrefix(line, "HTTP/1.1 401") {
				t.Errorf("%s: %q, %v", path, line, err)
			}
			continue
		}
		if !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Errorf("%s: %q, %v", path, line, err)
		}
		_, _ = io.WriteString(conn, "body")
		if rest, err := io.ReadAll(from); !strings.Contains(string(rest), "HTTP/1.1 200") || strings.Count(string(rest), "HTTP/1.1 100") != 0 || !strings.HasSuffix(string(rest), "body") {
			t.Errorf("%s: %q, %v", path, rest, err)
		}
	}
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

func TestAnObserverThatHangsIsInNobodysWay(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	upstream := service(t, func(http.ResponseWriter, *http.Request) {})
	p := stand(t, upstream.URL, func(c *Config) { c.Observe = func([]quota.Observation) { <-hang } })
	client := caller(t)
	for range maxQueued + maxBatch + 50 {
		if answer, _ := fetch(t, client, newRequest(t, "GET", p.url+"/api/v1/events", "")); answer.StatusCode != 200 {
			t.Fatal(answer.Status)
		}
	}
	scrape := httptest.NewRecorder()
	p.Metrics().ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	if told := scrape.Body.String(); strings.Contains(told, "observations_dropped_total 0\n") || !strings.Contains(told, `tillwatch_proxy_requests_total{class="reads",status="2xx"} `+strconv.Itoa(maxQueued+maxBatch+50)) {
		t.Errorf("metrics: %s", told)
	}
}

func TestAServiceIsNotReachedInClearTextUnlessThatIsAllowed(t *testing.T) {
	if _, err := New(Config{Upstream: "http://api.example"}); err == nil || !strings.Contains(err.Error(), "API keys unencrypted") {
		t.Errorf("got %v", err)
	}
	if _, err := New(Config{Upstream: "http://api.example", InsecureHTTP: true}); err != nil {
		t.Error(err)
	}
	for _, header := range []string{"authorization", "Cookie", "Set-Cookie", "X-Api-Key", "x-access-TOKEN", "X-Client-Secret", "X-Auth", "X-Password", "X Job", "X-Job\r\nA: b"} {
		if _, err := New(Config{Upstream: "https://api.example", SpenderHeader: header}); err == nil {
			t.Errorf("%q was taken as the spender's header", header)
		}
	}
}

func TestTheServicesCertificateIsVerified(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") }))
	defer upstream.Close()
	upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p := stand(t, upstream.URL, nil)
	answer, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events", ""))
	if answer.StatusCode != http.StatusBadGateway || !strings.Contains(body, "certificate") || !strings.Contains(body, "not sent") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}

func TestWhatNobodyReportsIsCounted(t *testing.T) {
	p := stand(t, service(t, echo).URL, func(c *Config) { c.Dropped = func() int64 { return 7 } })
	scrape := httptest.NewRecorder()
	p.Metrics().ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if told := scrape.Body.String(); !strings.Contains(told, "tillwatch_proxy_observations_dropped_total 7\n") {
		t.Errorf("told: %s", told)
	}
}
