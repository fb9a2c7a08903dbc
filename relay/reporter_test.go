package relay

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// desk takes the batches of a reporter, as its answers say.
type desk struct {
	mu      sync.Mutex
	answers []int // to the first batches; then 200
	batches [][]string
	tokens  []string
	refused int
}

func (d *desk) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	all, err := readBatch(body)
	d.mu.Lock()
	defer d.mu.Unlock()
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
	}
	if len(d.answers) > 0 {
		status, d.answers = d.answers[0], d.answers[1:]
	}
	d.tokens = append(d.tokens, req.Header.Get("Authorization"))
	if status != http.StatusOK {
		d.refused++
		refuse(w, status, "no, \x1b[2J")
		return
	}
	var ids []string
	for _, o := range all {
		ids = append(ids, o.id)
	}
	d.batches = append(d.batches, ids)
	answer(w, status, "application/json", []byte("{}"))
}

func (d *desk) refusals() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

func (d *desk) ids() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, batch := range d.batches {
		all = append(all, batch...)
	}
	return all
}

var reportToken = api.NewSecret("a token to report")

// reporting runs a reporter to h until stop is called.
func reporting(t *testing.T, h http.Handler, token api.Secret) (r *Reporter, log *recorded, stop func()) {
	t.Helper()
	n, closed := serveOn(t, h)
	log = &recorded{}
	r, err := NewReporter(Access{URL: "http://127.0.0.1", Token: token}, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	r.client.http.Transport = &http.Transport{DialContext: n.dial}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		r.Run(ctx)
		close(ended)
	}()
	return r, log, func() {
		cancel()
		<-ended
		closed()
	}
}

func TestWhatIsObservedIsReportedInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r, log, stop := reporting(t, d, reportToken)
		r.Observe([]quota.Observation{observed(1)})
		r.Observe([]quota.Observation{observed(2)})
		<-time.After(reportPause)
		synctest.Wait()
		if len(d.batches) != 1 || len(d.batches[0]) != 2 {
			t.Fatalf("after a pause: %v", d.batches)
		}
		for n := 3; n <= 2+2*reportBatch; n++ {
			r.Observe([]quota.Observation{observed(n)})
		}
		synctest.Wait()
		if len(d.batches) != 3 || len(d.batches[1]) != reportBatch {
			t.Errorf("what fills a batch waits: %d batches", len(d.batches))
		}
		stop()
		for i, id := range d.ids() {
			if id != observed(i+1).ID {
				t.Fatalf("number %d is %s", i+1, id)
			}
		}
		if d.tokens[0] != "Bearer a token to report" || log.String() != "" || r.Dropped() != 0 {
			t.Errorf("token %q, log %q, %d dropped", d.tokens[0], log, r.Dropped())
		}
	})
}

// Somebody may yet put a token in place at the relay: nobody has to start the reporter again.
func TestAReporterTriesAgainUntilTheRelayIsBack(t *testing.T) {
	for status, wait := range map[int]time.Duration{
		404: time.Minute, 500: time.Minute, 503: time.Minute, 401: 5 * refusedPause, 403: 5 * refusedPause,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{answers: []int{status, status, status, status, status}}
			r, log, stop := reporting(t, d, reportToken)
			r.Observe([]quota.Observation{observed(1)})
			<-time.After(wait / 5)
			synctest.Wait()
			if refused := d.refusals(); wait > time.Minute && refused > 2 { // rarely, while the token is refused
				t.Errorf("after %d: %d refusals in %v", status, refused, wait/5)
			}
			<-time.After(wait)
			synctest.Wait()
			if ids := d.ids(); len(ids) != 1 || d.refused != 5 || r.Dropped() != 0 {
				t.Errorf("after %d: %v after %d refusals, %d dropped", status, ids, d.refused, r.Dropped())
			}
			stop()
			said := log.String()
			if strings.Count(said, "observations are not reported") != 1 || !strings.Contains(said, "takes observations again") ||
				strings.ContainsRune(said, 0x1b) || strings.Contains(said, "a token to report") {
				t.Errorf("after %d it says %s", status, said)
			}
		})
	}
}

// A flood is more than a relay takes: its reporter says once in a while how much goes.
func TestAReporterThatIsTooFastSaysWhatIsDroppedAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, token := NewToken("reporter", []Scope{ScopeReport}, time.Now(), time.Time{})
		relay := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued = []Token{token} })
		r, log, stop := reporting(t, relay.Handler(), text)
		const seconds, rate = 12, 3 * observationRate
		for range seconds {
			for n := range rate {
				o := observed(n)
				o.ID = rand.Text()
				r.Observe([]quota.Observation{o})
			}
			<-time.After(time.Second)
		}
		stop()
		taken, _ := relay.observations.count()
		if taken+r.Dropped() != seconds*rate || taken < seconds*observationRate {
			t.Errorf("%d were taken, %d dropped of %d", taken, r.Dropped(), seconds*rate)
		}
		said := log.String()
		if lines := strings.Count(said, "\n"); lines == 0 || lines > 2+seconds/10 || strings.Contains(said, "not reported") {
			t.Errorf("it says %s", said)
		}
	})
}

func TestABatchThatTheRelayRefusesForGoodIsDroppedAndSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{answers: []int{422, 413}}
		r, log, stop := reporting(t, d, reportToken)
		for n := range 3 {
			r.Observe([]quota.Observation{observed(n)})
			<-time.After(time.Second)
		}
		stop()
		if ids := d.ids(); len(ids) != 1 || ids[0] != observed(2).ID || r.Dropped() != 2 {
			t.Errorf("%v, %d dropped", ids, r.Dropped())
		}
		if !strings.Contains(log.String(), "dropped=2") {
			t.Errorf("it says %s", log)
		}
	})
}

func TestARelayThatHangsKeepsNobodyWaitingAndTheNewestAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seen = 3 * reportQueue
		d, hang := &desk{}, make(chan struct{})
		r, _, stop := reporting(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			<-hang
			d.ServeHTTP(w, req)
		}), reportToken)
		began := time.Now()
		for n := range seen {
			r.Observe([]quota.Observation{observed(n)})
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("who observes waited for %v", waited)
		}
		close(hang)
		<-time.After(time.Minute)
		stop()
		ids := d.ids()
		if ids[len(ids)-1] != observed(seen-1).ID || int64(len(ids))+r.Dropped() != seen || len(ids) < reportQueue {
			t.Errorf("%d were reported, %d dropped of %d; the last is %s", len(ids), r.Dropped(), seen, ids[len(ids)-1])
		}
	})
}

func TestAReporterEndsWithWhatWaitsAndInTime(t *testing.T) {
	t.Run("reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{}
			r, _, stop := reporting(t, d, reportToken)
			for n := range 3 * reportBatch / 2 {
				r.Observe([]quota.Observation{observed(n)})
			}
			stop()
			if n := len(d.ids()); n != 3*reportBatch/2 || r.Dropped() != 0 {
				t.Errorf("%d were reported, %d dropped", n, r.Dropped())
			}
		})
	})
	t.Run("dropped, where the relay is gone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, log, stop := reporting(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				_, _ = io.Copy(io.Discard, req.Body) // the server notices then that the reporter leaves
				<-req.Context().Done()
			}), reportToken)
			for n := range 3 * reportBatch {
				r.Observe([]quota.Observation{observed(n)})
			}
			<-time.After(time.Second)
			began := time.Now()
			stop()
			if took := time.Since(began); took > flushTimeout || r.Dropped() != 3*reportBatch {
				t.Errorf("it took %v, %d dropped", took, r.Dropped())
			}
			if !strings.Contains(log.String(), "dropped=1500") || strings.Contains(log.String(), "canceled") {
				t.Errorf("it says %s", log)
			}
		})
	})
}

func TestAReporterSendsItsTokenToNobodyElse(t *testing.T) {
	token := reportToken
	for name, cfg := range map[string]Access{
		"no token":                {URL: "http://127.0.0.1:7430"},
		"no URL":                  {Token: token},
		"plain HTTP to elsewhere": {URL: "http://relay.example", Token: token},
		"a token in the URL":      {URL: "https://x:y@relay.example", Token: token},
	} {
		if _, err := NewReporter(cfg, nil); err == nil || strings.Contains(err.Error(), token.Reveal()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
