package proxy

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var randomRequests = flag.Int("random-requests", 400, "requests of TestARequestIsTheSameWithAndWithoutTheProxy")

// plan is what a client asks and what the service does then, by its number alone:
// both sides make the same one.
type plan struct {
	number             int
	method, target     string
	header             http.Header
	body               []byte
	chunked, withEnd   bool // the request's body; it has a trailer
	status             int
	answerHeader       http.Header
	answer             []byte
	flushed, answerEnd bool // the answer is sent in parts; it has trailers
	early              bool // its first half is sent before the request has been read
	hinted             bool // with an early hint before it
	broken             int  // 1: there is no answer, 2: it breaks off
}

func planOf(number int) plan {
	r := rand.New(rand.NewPCG(uint64(number), 13))
	some := func(share float64) bool { return r.Float64() < share }
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	bytesOf := func() []byte {
		all := make([]byte, []int{0, 1, 300, 300, 5_000, 5_000, 40_000, 200_000}[r.IntN(8)])
		for i := range all {
			all[i] = byte(r.Uint32())
		}
		return all
	}
	p := plan{number: number, header: http.Header{"X-Number": {strconv.Itoa(number)}}, answerHeader: http.Header{}}
	p.method = pick("GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT")
	p.target = "/api/v1/" + pick("checkout-intents", "checkout-intents/ci_1/confirm", "events/evt%2Fa%7cb", "a//b/./c", "%e2%82%ac;x=1", "~(a)!*'@:", "") +
		pick("", "?", "?a=b&a=c", "?a;b=%zz", "?q=%20+|", "?"+strings.Repeat("long=", 300))
	for range r.IntN(6) {
		name := pick("Authorization", "User-Agent", "X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "Cookie", "Accept-Encoding", "Te", "Idempotency-Key", "Content-Type", "X-Any", "Via", "Range")
		p.header[name] = append(p.header[name], map[string]string{"Te": "trailers"}[name]+pick("", "one", "two; three=\"4\"", strings.Repeat("v", 900)))
	}
	if te := p.header["Te"]; te != nil {
		p.header["Te"] = []string{"trailers"}
	}
	if p.method != "GET" && p.method != "HEAD" {
		p.body, p.chunked = bytesOf(), some(0.3)
		p.withEnd = p.chunked && some(0.5)
		if len(p.body) > 0 && some(0.1) {
			p.header["Expect"] = []string{"100-continue"}
		}
	}
	p.status = []int{200, 200, 200, 201, 202, 204, 301, 304, 400, 404, 422, 429, 500, 503}[r.IntN(14)]
	for range r.IntN(6) {
		name := pick("Ratelimit", "Ratelimit-Policy", "Retry-After", "Content-Type", "Content-Encoding", "Set-Cookie", "X-Request-Id", "Server", "Via", "Location")
		p.answerHeader[name] = append(p.answerHeader[name], pick("1", `"default";r=9;t=1`, "application/json", "gzip", "a=b; Path=/"))
	}
	p.answerHeader["Date"] = []string{"Sun, 22 Nov 2026 08:00:00 GMT"}
	if some(0.2) {
		p.answerHeader["Date"] = nil
	}
	if p.status != 204 && p.status != 304 {
		p.answer, p.flushed = bytesOf(), some(0.4)
		p.answerEnd = p.flushed && p.method != "HEAD" && some(0.3)
	}
	p.early, p.hinted = len(p.body) > 0 && len(p.answer) > 1 && p.header["Expect"] == nil && some(0.2), some(0.05)
	if p.broken = max(0, r.IntN(40)-37); p.early || p.broken == 2 && (len(p.answer) < 2 || p.method == "HEAD") {
		p.broken = 0 // an answer to HEAD ends with its header: the next request would break off
	}
	return p
}

// asked is a request as the service got it.
type asked struct {
	Method, Target, Host string
	Header, Trailer      http.Header
	Body                 []byte
	Length               int64
	Chunked              bool
}

// planned is a service that does what the plans say.
type planned struct {
	mu   sync.Mutex
	seen map[int]asked
}

func (s *planned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(r.Header.Get("X-Number"))
	p := planOf(number)
	answer := http.NewResponseController(w)
	if p.early {
		_ = answer.EnableFullDuplex()
		p.begin(w, answer)
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen[number] = asked{r.Method, r.RequestURI, r.Host, r.Header, r.Trailer, body, r.ContentLength, len(r.TransferEncoding) > 0}
	s.mu.Unlock()
	if !p.early {
		p.begin(w, answer)
	}
	_, _ = w.Write(p.answer[len(p.answer)/2:])
	if p.answerEnd {
		w.Header()["X-Sum"] = []string{"of the answer"}
		w.Header()[http.TrailerPrefix+"X-Late"] = []string{"unannounced"}
	}
}

// begin sends the first half of an answer, or ends there.
func (p *plan) begin(w http.ResponseWriter, answer *http.ResponseController) {
	if p.broken == 1 {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	if p.hinted {
		h["Link"] = []string{"</style.css>; rel=preload"}
		w.WriteHeader(http.StatusEarlyHints)
		delete(h, "Link")
	}
	for name, values := range p.answerHeader {
		h[name] = values
	}
	if p.answerHeader["Content-Type"] == nil {
		h["Content-Type"] = nil // net/http would make one up
	}
	if p.answerEnd {
		h["Trailer"] = []string{"X-Sum"}
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.answer[:len(p.answer)/2])
	if p.flushed || p.early || p.broken == 2 {
		_ = answer.Flush()
	}
	if p.broken == 2 {
		panic(http.ErrAbortHandler)
	}
}

// got is an answer as a client got it.
type got struct {
	Status          int
	Header, Trailer http.Header
	Body            []byte
	Hints           string
	Unanswered      bool
	BrokenOff       bool
}

// ending fills the trailer when the body has been read.
type ending struct {
	io.Reader
	request *http.Request
}

func (e ending) Read(part []byte) (int, error) {
	n, err := e.Reader.Read(part)
	if err == io.EOF && e.request.Trailer != nil {
		e.request.Trailer["X-Sum"] = []string{"of the request"}
	}
	return n, err
}

// send asks by a plan.
func (p *plan) send(t *testing.T, client *http.Client, base string) (answer got) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), p.method, base+p.target, bytes.NewReader(p.body))
	if err != nil {
		t.Error(err)
		return got{}
	}
	r.Header = p.header.Clone()
	if p.chunked {
		r.ContentLength, r.GetBody = -1, nil
		if p.withEnd {
			r.Trailer = http.Header{"X-Sum": nil}
		}
		r.Body = io.NopCloser(ending{bytes.NewReader(p.body), r})
	}
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		if code != http.StatusContinue {
			answer.Hints += fmt.Sprint(code, header)
		}
		return nil
	}}))
	response, err := client.Do(r)
	if err != nil {
		return got{Unanswered: true}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode == http.StatusBadGateway && (p.method == "HEAD" || bytes.Contains(body, []byte("tillwatch proxy: the service gave no answer"))) {
		return got{Unanswered: true}
	}
	response.Header.Del("Connection") // of one connection alone
	answer.Status, answer.Header, answer.Trailer, answer.Body, answer.BrokenOff = response.StatusCode, response.Header, response.Trailer, body, err != nil
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("request %d broke off with %v", p.number, err)
	}
	return answer
}

func TestARequestIsTheSameWithAndWithoutTheProxy(t *testing.T) {
	behind := &planned{seen: map[int]asked{}}
	upstream := service(t, behind.ServeHTTP)
	p := stand(t, upstream.URL, nil)
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		client := caller(t)
		workers.Go(func() {
			for number := range numbers {
				behind.compare(t, client, planOf(number), upstream.URL, p.url)
			}
		})
	}
	for number := range *randomRequests {
		numbers <- number
	}
	close(numbers)
	workers.Wait()
}

// compare sends a request to both addresses.
func (s *planned) compare(t *testing.T, client *http.Client, p plan, direct, through string) {
	t.Helper()
	take := func() asked {
		s.mu.Lock()
		defer s.mu.Unlock()
		seen := s.seen[p.number]
		delete(s.seen, p.number)
		return seen
	}
	gotDirect := p.send(t, client, direct)
	askedDirect := take()
	gotThrough := p.send(t, client, through)
	askedThrough := take()
	if !reflect.DeepEqual(askedDirect, askedThrough) {
		t.Errorf("request %d: the service is asked\n%s\nand through the proxy\n%s", p.number, short(askedDirect), short(askedThrough))
	}
	if !reflect.DeepEqual(gotDirect, gotThrough) {
		t.Errorf("request %d (%s): the client gets\n%s\nand through the proxy\n%s", p.number, p.method, short(gotDirect), short(gotThrough))
	}
}

func short(value any) string {
	text := fmt.Sprintf("%+v", value)
	return text[:min(len(text), 1500)]
}
