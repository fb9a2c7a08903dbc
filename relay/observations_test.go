package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

// observed is the nth of a row of observations.
func observed(n int) quota.Observation {
	return quota.Observation{
		ID: fmt.Sprintf("observer-%d", n), Sent: time.Date(2026, 4, 21, 3, 27, 50, n, time.UTC), Latency: 41 * time.Millisecond,
		Method: "GET", Endpoint: "/api/v1/checkout-intents/{id}", Class: quota.Reads, Status: 200,
		Reports: []quota.Report{{
			Policy: "default", Limit: 10, Window: time.Second, PolicyKnown: true,
			Remaining: 7, Reset: time.Second, RemainingKnown: true, ResetKnown: true,
		}},
		Key: "3f9a", Spender: "shop", IntentID: "ci_1", State: "retrieving_offer", Reference: "order-7",
	}
}

func batchOf(from, to int) []byte {
	var all []quota.Observation
	for n := from; n <= to; n++ {
		all = append(all, observed(n))
	}
	text, err := json.Marshal(map[string]any{"items": all})
	if err != nil {
		panic(err)
	}
	return text
}

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

func TestABatchThatCannotBeTakenSaysWhichItemAndWhy(t *testing.T) {
	good := `{"id":"a","sent":"2026-04-21T03:27:50Z"}`
	item := func(members string) string {
		return `{"items":[` + good + `,{"id":"b","sent":"2026-04-21T03:27:50Z",` + members + `}]}`
	}
	for _, test := range []struct{ name, body, want string }{
		{"nothing", "", "not a batch"},
		{"no JSON", "GET / HTTP/1.1", "not a batch"},
		{"another object", `{"observations":[]}`, "not a batch: send"},
		{"null for items", `{"items":null}`, "not a batch"},
		{"an item that is no object", `{"items":[` + good + `,7]}`, "items[1]: it has the wrong type"},
		{"null as an item", `{"items":[null]}`, "items[0]: id has"},
		{"too many", `{"items":[` + strings.Repeat(good+",", maxBatch) + good + `]}`, "at most 1000 items"},
		{"too many of nothing", `{"items":[` + strings.Repeat("0,", 500_000) + `0]}`, "at most 1000 items"},
		{"no id", `{"items":[{"sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id with a control character", `{"items":[{"id":"a\u001b[2J","sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id that is too long", `{"items":[{"id":"` + strings.Repeat("a", 129) + `","sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"no time", `{"items":[{"id":"a"}]}`, "items[0]: sent is missing"},
		{"a time that is none", `{"items":[{"id":"a","sent":"yesterday"}]}`, "items[0]: sent is not a time"},
		{"a status as text", item(`"status":"200"`), "items[1]: status has the wrong type"},
		{"a status that HTTP has not", item(`"status":99`), "items[1]: status is 0"},
		{"a broken latency", item(`"latencyNs":1.5`), "items[1]: latencyNs has the wrong type"},
		{"a negative latency", item(`"latencyNs":-1`), "items[1]: latencyNs or retryAfterNs is negative"},
		{"a latency of centuries", item(`"latencyNs":9223372036854775807`), "items[1]: latencyNs or retryAfterNs is negative, or longer"},
		{"a negative time to wait", item(`"retryAfterNs":-1`), "items[1]: latencyNs or retryAfterNs is negative"},
		{"an intent's id that is too long", item(`"intentId":"` + strings.Repeat("a", 257) + `"`), "items[1]: intentId has more"},
		{"reports that are no list", item(`"reports":{}`), "items[1]: reports has the wrong type"},
		{"a negative limit", item(`"reports":[{},{"limit":-1}]`), "items[1]: reports[1] has a number that is negative"},
		{"a negative rest", item(`"reports":[{"remaining":-1}]`), "items[1]: reports[0] has a number that is negative"},
		{"a negative reset", item(`"reports":[{"resetNs":-1}]`), "items[1]: reports[0] has a number that is negative"},
		{"more than an item may have", item(`"reports":[` + strings.Repeat("{},", 4000) + `{}]`), "items[1]: it has more than 8192 bytes"},
		{"the least, then nothing", `{"from":"me","items":[` + good + `,{}],"more":[1]}`, "items[1]: id has"},
		{"a depth without end", strings.Repeat(`{"items":[`, 100_000), "not a batch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := readBatch([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) || len(all) > 0 {
				t.Errorf("%d observations, error %v, want %q", len(all), err, test.want)
			}
			if err != nil && (len(err.Error()) > 400 || strings.ContainsRune(err.Error(), 0x1b)) {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

func TestTextsOfAnObservationAreScrubbedAndCut(t *testing.T) {
	o := observed(1)
	for _, text := range []*string{&o.Method, &o.Endpoint, &o.Key, &o.Spender, &o.State, &o.Reference, &o.Reports[0].Policy, (*string)(&o.Class)} {
		*text = "a\x1b[2J\r\n\u202e\u200bb" + strings.Repeat("ü", 300)
	}
	o.IntentID = "ci\x1b[2J"
	clean, err := sound(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{clean.Method, clean.Endpoint, clean.Key, clean.Spender, clean.State, clean.Reference, clean.Reports[0].Policy, string(clean.Class), clean.IntentID} {
		if strings.ContainsAny(text, "\x1b\r\n\u202e\u200b") || len(text) > maxObservationText || strings.ContainsRune(text, '\uFFFD') {
			t.Errorf("a text is %q", text)
		}
	}
	if !strings.HasPrefix(clean.IntentID, "ci[2J~") {
		t.Errorf("the intent's id is %q, which may be another's", clean.IntentID)
	}
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

func TestAStreamBeginsWithTheLastHourAndSaysSinceWhenThatIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		begin := func(observed string) (since time.Time, all []quota.Observation) {
			p := connect(t, n, helloFrame{T: frameHello, Observed: observed})
			since = p.next(frameWelcome).Since
			for f := p.frame(); f.T != frameLive; f = p.frame() { // a command that ends once it is live has heard all
				all = append(all, f.observations.Items...)
			}
			return since, all
		}
		expectTaken(t, r.Handler(), 1, 5, taken{Received: 5})
		<-time.After(40 * time.Minute)
		expectTaken(t, r.Handler(), 6, 905, taken{Received: 900}) // more than a frame
		since, all := begin("")
		expectObserved(t, all, 1, 905)
		if !since.Equal(began) {
			t.Errorf("whole since %v of a relay that began at %v", since, began)
		}
		if since, all := begin(noObservations); !since.IsZero() || len(all) > 0 {
			t.Errorf("%d observations, whole since %v, for one who wants none", len(all), since)
		}
		<-time.After(30 * time.Minute)
		since, all = begin("")
		expectObserved(t, all, 6, 905)
		if !since.IsZero() {
			t.Errorf("whole since %v after more than an hour", since)
		}
	})
}

func TestABatchIsTakenWholeOrNotAtAll(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	bad := bytes.Replace(batchOf(1, 10), []byte(`"latencyNs":41000000`), []byte(`"latencyNs":-1`), 3)
	w := reported(r.Handler(), testToken, bad)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "items[0]: latencyNs or retryAfterNs is negative") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n, _ := r.observations.count(); n != 0 {
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

func TestObservationsAreBoundedInNumberAndSize(t *testing.T) {
	now := time.Now()
	many := newObservations()
	for n := 0; n < maxObservations+2500; n += 500 {
		var items []observation
		for i := range 500 {
			items = append(items, observation{id: fmt.Sprint(n + i), text: fmt.Append(nil, n+i)})
		}
		many.add(items, now)
	}
	kept, head := many.count()
	if kept != maxObservations || head != maxObservations+2500 || len(many.known) != maxObservations {
		t.Errorf("%d of %d are kept, %d known", kept, head, len(many.known))
	}
	if some, _ := many.after(0, 1); string(some[0]) != "2500" {
		t.Errorf("the oldest is %s", some[0])
	}
	if since := many.wholeSince(now); since.Sub(now).Abs() > time.Second {
		t.Errorf("whole since %v, though some of %v were dropped", since, now)
	}
	large := newObservations()
	for n := range 30 {
		large.add([]observation{{id: fmt.Sprint(n), text: make([]byte, 1<<20)}}, now)
	}
	if kept, _ := large.count(); kept != maxObservationBytes>>20 || large.bytes > maxObservationBytes {
		t.Errorf("%d of 1 MiB are kept, %d bytes", kept, large.bytes)
	}
}

// observations reads frames until n observations came.
func (p *peer) observations(n int) (all []quota.Observation) {
	p.t.Helper()
	for len(all) < n {
		f := p.frame()
		if f.T == frameObservations {
			all = append(all, f.observations.Items...)
		}
	}
	return all
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

func TestWhatIsReportedReachesEveryStreamOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		early := []*peer{
			connect(t, n, helloFrame{T: frameHello}),
			connect(t, n, helloFrame{T: frameHello, Types: []string{"shipment.*"}}),
		}
		none := connect(t, n, helloFrame{T: frameHello, Observed: noObservations})
		for _, p := range append(early, none) {
			p.next(frameWelcome)
			p.next(frameLive)
		}
		expectTaken(t, r.Handler(), 1, 700, taken{Received: 700}) // more than a frame
		expectTaken(t, r.Handler(), 601, 800, taken{Received: 100, Repeated: 100})
		for _, p := range early {
			expectObserved(t, p.observations(800), 1, 800)
		}
		expectObserved(t, connect(t, n, helloFrame{T: frameHello}).observations(800), 1, 800)
		deliver(t, r.Handler(), 1, 1)
		none.next(frameEvents)
	})
}

// watching is a collector that takes observations, too.
type watching struct {
	*collector
	observed []quota.Observation
}

func (w *watching) Observe(batch []quota.Observation) {
	w.update(func() { w.observed = append(w.observed, batch...) })
}

func TestASubscriberHandsObservationsOnAndTheLastHourAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := serveRelay(t, r)
		expectTaken(t, r.Handler(), 1, 300, taken{Received: 300})
		w := &watching{collector: newCollector()}
		stop := run(t, subscribe(t, n, nil), w)
		seen := func(n int) func() bool { return func() bool { return len(w.observed) >= n } }
		w.await(t, "the last hour", seen(300))
		w.await(t, "since when they are whole", func() bool { return !w.statuses[len(w.statuses)-1].ObservedSince.IsZero() })
		expectTaken(t, r.Handler(), 301, 310, taken{Received: 10})
		w.await(t, "what comes", seen(310))
		r.hub.mu.Lock()
		for c := range r.hub.connections {
			_ = c.socket.Close() // and it comes back
		}
		r.hub.mu.Unlock()
		expectTaken(t, r.Handler(), 311, 320, taken{Received: 10})
		w.await(t, "what came meanwhile", seen(310+320))
		<-time.After(time.Minute)
		stop()
		expectObserved(t, w.observed[:310], 1, 310)
		expectObserved(t, w.observed[310:], 1, 320)
	})
}

func TestASubscriberScrubsWhatARelaySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := actor(t, func(p *peer, _ int) {
			p.send(goodWelcome)
			bad, loud := observed(1), observed(2)
			bad.Latency, loud.Spender = -1, "shop\x1b[2J"
			p.send(observationsFrame{T: frameObservations, Items: []quota.Observation{bad, loud}})
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
