package relay

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

// reported posts a batch as a reporter does.
func reported(h http.Handler, token string, body []byte) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, ObservationsPath, bytes.NewReader(body))
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return serve(h, req)
}

func expectTaken(t testing.TB, h http.Handler, from, to int, want taken) {
	t.Helper()
	w := reported(h, testToken, batchOf(from, to))
	var got taken
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got != want {
		t.Fatalf("observations %d to %d: %d %s, want %+v", from, to, w.Code, w.Body, want)
	}
}

// observations reads frames until n observations came.
func (p *peer) observations(n int) (all []quota.Observation, next string) {
	p.t.Helper()
	for len(all) < n {
		_, text, err := p.socket.ReadMessage()
		if err != nil {
			p.t.Fatalf("after %d observations: %v", len(all), err)
		}
		if len(text) > 2*frameBytes {
			p.t.Errorf("a frame has %d bytes", len(text))
		}
		f, err := readFrame(text)
		if err != nil {
			p.t.Fatal(err)
		}
		if f.T == frameObservations {
			all, next = append(all, f.observations.Items...), f.observations.Next
		}
	}
	return all, next
}

func expectObserved(t testing.TB, all []quota.Observation, from, to int) {
	t.Helper()
	if len(all) != to-from+1 {
		t.Fatalf("%d observations, want %d to %d", len(all), from, to)
	}
	for i, o := range all {
		if !reflect.DeepEqual(o, observed(from+i)) {
			t.Fatalf("where %d is due: %+v", from+i, o)
		}
	}
}

func TestWhatIsReportedReachesEveryStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		early := []*peer{connect(t, n, helloFrame{T: frameHello}), connect(t, n, helloFrame{T: frameHello, Types: []string{"shipment.*"}})}
		for _, p := range early {
			p.next(frameWelcome)
			p.next(frameLive)
		}
		expectTaken(t, r.Handler(), 1, 700, taken{Received: 700}) // more than a frame
		expectTaken(t, r.Handler(), 701, 800, taken{Received: 100})
		for _, p := range early {
			all, _ := p.observations(800)
			expectObserved(t, all, 1, 800)
		}
		late := connect(t, n, helloFrame{T: frameHello})
		all, next := late.observations(800)
		expectObserved(t, all, 1, 800)
		expectTaken(t, r.Handler(), 801, 802, taken{Received: 2})
		returning := connect(t, n, helloFrame{T: frameHello, Observed: next})
		all, _ = returning.observations(2)
		expectObserved(t, all, 801, 802)
	})
}

func TestManySmallBatchesMakeFewFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batches = 500
		r := newTestRelay(t, newMemory(t), nil)
		p := connect(t, serveRelay(t, r), helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		began := time.Now()
		var reporting sync.WaitGroup
		reporting.Go(func() {
			for n := range batches {
				expectTaken(t, r.Handler(), n, n, taken{Received: 1})
				<-time.After(time.Millisecond)
			}
		})
		frames, seen := 0, 0
		for seen < batches {
			seen += len(p.next(frameObservations).Items)
			frames++
		}
		reporting.Wait()
		if took := time.Since(began); frames > 1+int(took/observationPause) || took > batches*time.Millisecond+observationPause {
			t.Errorf("%d frames in %v", frames, took)
		}
	})
}

func TestABatchThatIsSentTwiceCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		p := connect(t, n, helloFrame{T: frameHello})
		expectTaken(t, r.Handler(), 1, 10, taken{Received: 10})
		expectTaken(t, r.Handler(), 1, 10, taken{Repeated: 10})
		expectTaken(t, r.Handler(), 6, 11, taken{Received: 1, Repeated: 5})
		all, _ := p.observations(11)
		expectObserved(t, all, 1, 11)
	})
}

func TestAStreamBeginsWithTheLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
		<-time.After(40 * time.Minute)
		expectTaken(t, r.Handler(), 6, 9, taken{Received: 4})
		<-time.After(30 * time.Minute)
		all, _ := connect(t, n, helloFrame{T: frameHello}).observations(4)
		expectObserved(t, all, 6, 9)
		for _, unknown := range []string{"nonsense", "-1", fmt.Sprint(position(time.Now().Add(time.Hour)))} {
			all, _ := connect(t, n, helloFrame{T: frameHello, Observed: unknown}).observations(4)
			expectObserved(t, all, 6, 9)
		}
	})
}

// A command that ends once it is live has heard all of it.
func TestTheLastHourComesBeforeLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 900, taken{Received: 900})
		deliver(t, r.Handler(), 1, 10)
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		events, observations := 0, 0
		for {
			_, text, err := p.socket.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			f, err := decodeFrame(text)
			if err != nil {
				t.Fatal(err)
			}
			switch f.T {
			case frameEvents:
				events += len(f.Items)
			case frameObservations:
				observations += len(f.Items)
			case frameLive:
				if events != 10 || observations != 900 {
					t.Errorf("live after %d events and %d observations", events, observations)
				}
				return
			}
		}
	})
}

func TestWhoAsksForNoneGetsNoObservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
		p := connect(t, n, helloFrame{T: frameHello, Observed: noObservations})
		p.next(frameWelcome)
		p.next(frameLive)
		expectTaken(t, r.Handler(), 6, 9, taken{Received: 4})
		deliver(t, r.Handler(), 1, 1)
		p.next(frameEvents)
	})
}

// A client of before takes an unknown frame's items for events, finds them to be
// none, and goes on.
func TestAClientThatDoesNotKnowObservationsLosesNothingByThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 400, taken{Received: 400})
		deliver(t, r.Handler(), 1, 20)
		p := connect(t, n, map[string]any{"t": "hello", "cursor": nil, "client": "of before"})
		var seqs []int64
		for len(seqs) < 25 {
			_, text, err := p.socket.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var f struct {
				T     string     `json:"t"`
				Items []wireItem `json:"items"`
			}
			if err := json.Unmarshal(text, &f); err != nil {
				t.Fatalf("a frame that an older client cannot decode: %v", err)
			}
			if f.T == frameLive {
				expectTaken(t, r.Handler(), 401, 500, taken{Received: 100})
				deliver(t, r.Handler(), 21, 25)
			}
			if f.T != frameEvents {
				continue
			}
			for _, item := range f.Items {
				seqs = append(seqs, item.Seq)
			}
		}
		if want := row(1, 25); !reflect.DeepEqual(seqs, want) {
			t.Errorf("events %v", seqs)
		}
	})
}

func TestWhatIsNoPartOfAnObservationGoesNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorded{}
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Logger = log.logger() })
		n := serveRelay(t, r)
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		for _, body := range []string{
			`{"apiKey":"marked","items":[{"id":"a","sent":"2026-04-21T03:27:50Z","authorization":"marked","buyer":{"email":"marked"}}]}`,
			`{"items":[{"id":"b","sent":"2026-04-21T03:27:50Z","status":"marked"}]}`,
			`{"items":[{"id":"b","sent":"marked"}]}`,
			`marked`,
		} {
			if w := reported(r.Handler(), testToken, []byte(body)); strings.Contains(w.Body.String(), "marked") {
				t.Errorf("the answer is %s", w.Body)
			}
		}
		if _, text, err := p.socket.ReadMessage(); err != nil || !bytes.Contains(text, []byte(`"id":"a"`)) || bytes.Contains(text, []byte("marked")) {
			t.Errorf("the frame is %s, %v", text, err)
		}
		if strings.Contains(log.String(), "marked") {
			t.Errorf("the log is %s", log)
		}
	})
}

func TestAnObservationIsNoEvent(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
	if headOf(t, memory) != 0 {
		t.Error("the journal has it")
	}
}

// watching is a collector that takes observations, too.
type watching struct {
	*collector
	observed []quota.Observation
}

func (w *watching) Observe(batch []quota.Observation) {
	w.update(func() { w.observed = append(w.observed, batch...) })
}

func TestASubscriberHandsObservationsOnEachOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 300, taken{Received: 300})
		w := &watching{collector: newCollector()}
		stop := run(t, subscribe(t, n, nil), w)
		seen := func(n int) func() bool { return func() bool { return len(w.observed) >= n } }
		w.await(t, "the last hour", seen(300))
		expectTaken(t, r.Handler(), 301, 310, taken{Received: 10})
		w.await(t, "what comes", seen(310))
		r.hub.cut() // and it comes back
		expectTaken(t, r.Handler(), 311, 320, taken{Received: 10})
		w.await(t, "what came meanwhile", seen(320))
		<-time.After(time.Minute)
		stop()
		expectObserved(t, w.observed, 1, 320)
	})
}

func TestASubscriberScrubsWhatARelaySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := actor(t, func(p *peer, _ int) {
			p.send(goodWelcome)
			bad, loud := observed(1), observed(2)
			bad.Latency, loud.Spender = -1, "shop\x1b[2J"
			p.send(observationsFrame{T: frameObservations, Next: "9", Items: []quota.Observation{bad, loud}})
			_ = p.closed()
		})
		w := &watching{collector: newCollector()}
		stop := run(t, subscribe(t, n, nil), w)
		w.await(t, "an observation", func() bool { return len(w.observed) > 0 })
		stop()
		if len(w.observed) != 1 || w.observed[0].Spender != "shop[2J" {
			t.Errorf("%+v", w.observed)
		}
	})
}

func TestWhoMayReport(t *testing.T) {
	read, token := NewToken("reader", []Scope{ScopeStream, ScopeRead, ScopeAdmin}, time.Now(), time.Time{})
	report, reporter := NewToken("reporter", []Scope{ScopeReport}, time.Now(), time.Time{})
	r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued = []Token{token, reporter} })
	for _, test := range []struct {
		name, token string
		status      int
		want        string
	}{
		{"nobody without a token", "", 401, "missing or wrong"},
		{"nobody with a wrong one", "wrong", 401, "missing or wrong"},
		{"nobody without the scope", read.Reveal(), 403, "lacks the scope report"},
		{"who has the scope", report.Reveal(), 200, `{"received":1,"repeated":0}`},
		{"who may do everything", testToken, 200, `{"received":0,"repeated":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if w := reported(r.Admin(), test.token, batchOf(1, 1)); w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	if w := reported(r.Ingest(), testToken, batchOf(1, 1)); w.Code != http.StatusNotFound {
		t.Errorf("on the address of webhooks: %d", w.Code)
	}
	if w := serve(r.Admin(), asked(ObservationsPath, testToken)); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestABatchIsTakenWholeOrNotAtAll(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	bad := bytes.Replace(batchOf(1, 10), []byte(`"latencyNs":41000000`), []byte(`"latencyNs":-1`), 3)
	w := reported(r.Handler(), testToken, bad)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "items[0]: latencyNs is negative") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := r.observing.board.count(); n != 0 {
		t.Errorf("%d were taken", n)
	}
}

func TestBodiesOfReportersAreBounded(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	for name, test := range map[string]struct {
		body   io.Reader
		length int64
		status int
	}{
		"a declared 2 MiB":           {strings.NewReader(strings.Repeat(" ", 2<<20)), 2 << 20, 413},
		"2 MiB that nobody declared": {strings.NewReader(strings.Repeat(" ", 2<<20)), -1, 413},
		"1001 items":                 {bytes.NewReader(batchOf(1, maxBatch+1)), -1, 413},
		"less than declared":         {strings.NewReader("{}"), 100, 422},
		"nothing":                    {strings.NewReader(""), 0, 422},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodPost, ObservationsPath, test.body)
			req.ContentLength = test.length
			req.Header.Set("Authorization", "Bearer "+testToken)
			if w := serve(r.Handler(), req); w.Code != test.status || !strings.Contains(w.Body.String(), `"message"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// One that floods is slowed down; others are not.
func TestAReporterIsBoundedInItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, token := NewToken("other", []Scope{ScopeReport}, time.Now(), time.Time{})
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued = []Token{token} })
		h := r.Handler()
		for n := range observationBurst / maxBatch {
			expectTaken(t, h, n*maxBatch, (n+1)*maxBatch-1, taken{Received: maxBatch})
		}
		w := reported(h, testToken, batchOf(1, 1))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "1000 a second") {
			t.Errorf("the flood goes on: %d %s", w.Code, w.Body)
		}
		if w := reported(h, text.Reveal(), batchOf(900_001, 900_001)); w.Code != http.StatusOK {
			t.Errorf("another reporter: %d %s", w.Code, w.Body)
		}
		<-time.After(time.Second)
		expectTaken(t, h, 800_001, 800_000+observationRate, taken{Received: observationRate})
	})
}

// The long form: go test ./relay -run NumberOfObservations -observations 1000000 -v
var manyObservations = flag.Int("observations", 70_000, "how many observations are posted")

func TestAnyNumberOfObservationsTakesBoundedMemory(t *testing.T) {
	const limit = 40 << 20
	all := *manyObservations / maxBatch * maxBatch
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		h := r.Handler()
		before := heap()
		for n := 0; n < all; n += maxBatch {
			var body bytes.Buffer
			body.WriteString(`{"items":[`)
			for i := range maxBatch {
				if i > 0 {
					body.WriteByte(',')
				}
				fmt.Fprintf(&body, `{"id":"o-%d","sent":"2026-04-21T03:27:50Z","method":"GET","endpoint":"/api/v1/checkout-intents/{id}","status":200}`, n+i)
			}
			body.WriteString(`]}`)
			if w := reported(h, testToken, body.Bytes()); w.Code != http.StatusOK {
				t.Fatalf("%d to %d: %d %s", n, n+maxBatch, w.Code, w.Body)
			}
			<-time.After(time.Second)
		}
		grown := heap() - before
		t.Logf("the heap has grown by %d bytes", grown)
		if grown > limit {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
		values := scraped(t, r)
		for name, want := range map[string]string{
			"tillwatch_observations_received_total": fmt.Sprint(float64(all)), "tillwatch_observations_dropped_total": fmt.Sprint(float64(all - boardItems)),
			"tillwatch_observations": fmt.Sprint(boardItems),
		} {
			if values[name] != want {
				t.Errorf("%s is %s, want %s", name, values[name], want)
			}
		}
		runtime.KeepAlive(r)
	})
}

func TestMetricsCountObservations(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	expectTaken(t, r.Handler(), 1, 10, taken{Received: 10})
	expectTaken(t, r.Handler(), 6, 15, taken{Received: 5, Repeated: 5})
	reported(r.Handler(), testToken, []byte("{}"))
	reported(r.Handler(), testToken, make([]byte, MaxBody+1))
	values := scraped(t, r)
	for name, want := range map[string]string{
		`tillwatch_observation_batches_total{outcome="taken"}`: "2", `tillwatch_observation_batches_total{outcome="malformed"}`: "1",
		`tillwatch_observation_batches_total{outcome="too_large"}`: "1", `tillwatch_observation_batches_total{outcome="too_fast"}`: "0",
		"tillwatch_observations_received_total": "15", "tillwatch_observations_repeated_total": "5",
		"tillwatch_observations_dropped_total": "0", "tillwatch_observations": "15",
	} {
		if values[name] != want {
			t.Errorf("%s is %s, want %s", name, values[name], want)
		}
	}
}

// Dashboards that read nothing hold up neither the reporter nor the others, and take
// no memory for what they miss.
func TestAFloodOfObservationsBesideStalledDashboards(t *testing.T) {
	const stalled, flood, limit = 20, 15 * maxBatch, 20 << 20
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		for range stalled {
			connect(t, n, helloFrame{T: frameHello}).next(frameWelcome) // and reads no more
		}
		healthy := connect(t, n, helloFrame{T: frameHello})
		var reading sync.WaitGroup
		var all []quota.Observation
		reading.Go(func() { all, _ = healthy.observations(flood) })
		synctest.Wait()
		before, began := heap(), time.Now()
		for from := 0; from < flood; from += maxBatch {
			expectTaken(t, r.Handler(), from+1, from+maxBatch, taken{Received: maxBatch})
			<-time.After(time.Second)
		}
		reading.Wait()
		if took := time.Since(began); took > flood/observationRate*time.Second {
			t.Errorf("it took %v", took)
		}
		expectObserved(t, all, 1, flood)
		all = nil
		if grown := heap() - before; grown > limit {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
		if open := r.Streams(); open != 1 {
			t.Errorf("%d streams are open, where those that stall should have ended", open)
		}
	})
}
