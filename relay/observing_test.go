package relay

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
	if n := r.observing.log.count(); n != 0 {
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
			"tillwatch_observations_received_total": fmt.Sprint(float64(all)), "tillwatch_observations_dropped_total": fmt.Sprint(float64(all - maxObservations)),
			"tillwatch_observations": fmt.Sprint(maxObservations),
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
