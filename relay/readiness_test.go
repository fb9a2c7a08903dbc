package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestARelayThatCannotReadWhatItHasAcknowledgedIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		deliver(t, r.Ingest(), 1, 5)
		for _, test := range []struct {
			failure error
			status  int
			said    string
		}{
			{nil, http.StatusOK, "ready\n"},
			{errors.New("the disk is gone"), http.StatusServiceUnavailable, "the journal cannot be read\n"},
			{nil, http.StatusOK, "ready\n"},
		} {
			memory.FailReads(test.failure)
			time.Sleep(checkInterval)
			if w := get(t, r, "/readyz"); w.Code != test.status || w.Body.String() != test.said {
				t.Errorf("reads fail with %v: %d %s", test.failure, w.Code, w.Body)
			}
		}
	})
}

func TestTheCheckAtTheStartNamesWhatIsDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, log := newMemory(t), &recorded{}
		deliver(t, newTestRelay(t, memory, nil).Ingest(), 1, 30)
		memory.Lose(4, 7, 8, 9, 30)
		r := newTestRelay(t, memory, func(cfg *Config) { cfg.Logger = log.logger() })
		ctx, end := context.WithCancel(t.Context())
		defer end()
		memory.FailReads(errors.New("not yet"))
		time.AfterFunc(2*auditRetry, func() { memory.FailReads(nil) })
		r.audit(ctx)
		const want = "damaged events in the journal: 5, the first is number 4; readers are told of a gap"
		if w := get(t, r, "/readyz"); w.Code != http.StatusOK || w.Body.String() != "ready\n"+want+"\n" {
			t.Errorf("ready: %d %s", w.Code, w.Body)
		}
		if values := scraped(t, r); values["tillwatch_journal_damaged"] != "5" {
			t.Errorf("the metric is %s", values["tillwatch_journal_damaged"])
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log)
		}
	})
}

// linesWith returns the lines of a log that contain part, without their times.
func linesWith(log *recorded, part string) (lines []string) {
	for line := range strings.Lines(log.String()) {
		if _, said, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(said, part) {
			lines = append(lines, said)
		}
	}
	return lines
}

func TestAKindOfFailureIsLoggedOnceASecondWithItsCount(t *testing.T) {
	for _, test := range []struct {
		name string
		fail func(t *testing.T, r *Relay) // once
		line string
	}{
		{"the journal cannot be written", func(t *testing.T, r *Relay) {
			if w := serve(r.Ingest(), signedRequest(eventBody(1))); w.Code != http.StatusServiceUnavailable {
				t.Fatalf("%d", w.Code)
			}
		}, `level=ERROR msg="delivery not stored" error="disk full"`},
		{"no signature", func(t *testing.T, r *Relay) {
			serve(r.Ingest(), httptest.NewRequest(http.MethodPost, WebhookPath, nil))
		}, `level=WARN msg="delivery rejected: the signature is missing or wrong" status=401`},
		{"a body that cannot be kept aside", func(t *testing.T, r *Relay) {
			serve(r.Ingest(), signedRequest([]byte("no event")))
		}, `level=ERROR msg="delivery not stored" error="disk full"`},
		{"no stream can be opened", func(t *testing.T, r *Relay) {
			r.draining.Store(true)
			r.hub.closed = true
			serve(r.Admin(), asked(StreamPath, testToken))
		}, `level=WARN msg="stream refused" error="the relay is shutting down"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, log := newMemory(t), &recorded{}
				memory.Fail(errors.New("disk full"))
				r := newTestRelay(t, memory, func(cfg *Config) { cfg.Logger = log.logger() })
				for range 300 { // 111 a second for not quite 3 s
					test.fail(t, r)
					<-time.After(9 * time.Millisecond)
				}
				<-time.After(time.Minute)
				test.fail(t, r)
				want := []string{test.line, test.line + " more_since_last=111", test.line + " more_since_last=111", test.line + " more_since_last=77", test.line}
				if got := linesWith(log, "msg="); !slices.Equal(got, want) {
					t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// scraped reads the metrics into name{labels} → value.
func scraped(t *testing.T, r *Relay) map[string]string {
	t.Helper()
	w := serve(r.Admin(), asked(MetricsPath, testToken))
	if w.Code != http.StatusOK {
		t.Fatalf("metrics: %d %s", w.Code, w.Body)
	}
	values := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), " "); found && !strings.HasPrefix(line, "#") {
			values[name] = value
		}
	}
	return values
}

func TestMetricsCountEveryOutcomeAndNameNothingFromOutside(t *testing.T) {
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	h := r.Handler()
	deliver(t, h, 1, 3)
	deliver(t, h, 3, 3)
	serve(h, signedRequest(bytes.Replace(eventBody(1), []byte("offer_retrieved"), []byte("offer_failed"), 1)))
	serve(h, signedRequest([]byte("no event, of a peculiar kind")))
	serve(h, signedRequest([]byte(`{"id":"evt_1","type":"webhook_endpoint.verification_challenge","source":{"id":"we_1"}}`)))
	serve(h, signedRequest([]byte(`{"id":"evt_peculiar","type":"peculiar"}`)))
	serve(h, httptest.NewRequest(http.MethodPost, WebhookPath, strings.NewReader("{}")))
	serve(h, signedRequest(make([]byte, MaxBody+1)))
	memory.Fail(io.ErrShortWrite)
	serve(h, signedRequest(eventBody(9)))
	memory.Fail(nil)
	deliver(t, h, 2, 2)

	values := scraped(t, r)
	for outcome, want := range map[string]string{
		"stored": "4", "duplicate": "2", "conflict": "1", "quarantined": "1", "challenge": "1",
		"unauthorized": "1", "too_large": "1", "unread": "0", "unavailable": "1",
	} {
		if got := values[fmt.Sprintf(`tillwatch_deliveries_total{outcome="%s"}`, outcome)]; got != want {
			t.Errorf("%s: %s, want %s", outcome, got, want)
		}
	}
	for name, want := range map[string]string{
		"tillwatch_journal_head": "4", "tillwatch_journal_oldest": "1", "tillwatch_subscribers": "0",
		"tillwatch_subscriber_lag_events": "0", "tillwatch_ready": "1", "tillwatch_store_seconds_count": "9",
	} {
		if values[name] != want {
			t.Errorf("%s: %s, want %s", name, values[name], want)
		}
	}
	for name := range values {
		if strings.Contains(name, "peculiar") {
			t.Errorf("%s has text from outside", name)
		}
	}
}

func TestMetricsShowHowFarTheSlowestSubscriberIsBehind(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	deliver(t, r.Handler(), 1, 10)
	for _, at := range []int64{10, 3, 7} {
		c := r.connection(nil, nil)
		c.seq.Store(at)
		r.hub.connections[c] = struct{}{}
	}
	r.hub.connections[r.connection(nil, nil)] = struct{}{} // has not begun
	values := scraped(t, r)
	if values["tillwatch_subscriber_lag_events"] != "7" || values["tillwatch_subscribers"] != "4" {
		t.Errorf("lag %s of %s subscribers", values["tillwatch_subscriber_lag_events"], values["tillwatch_subscribers"])
	}
	clear(r.hub.connections)
}

// hung is a journal whose database does not answer.
type hung struct{ *faultyJournal }

func (hung) Head(ctx context.Context) (int64, error)   { return 0, hangs(ctx) }
func (hung) Oldest(ctx context.Context) (int64, error) { return 0, hangs(ctx) }
func (hung) Check(ctx context.Context) error           { return hangs(ctx) }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestMetricsOfAHungJournalComeSoonAndNameNoFigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, hung{newMemory(t)}, nil)
		began := time.Now()
		values := scraped(t, r)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("they took %s", took)
		}
		for name, want := range map[string]string{
			"tillwatch_journal_head": "NaN", "tillwatch_journal_oldest": "NaN",
			"tillwatch_subscriber_lag_events": "NaN", "tillwatch_subscribers": "0", "tillwatch_ready": "0",
		} {
			if values[name] != want {
				t.Errorf("%s: %s, want %s", name, values[name], want)
			}
		}
	})
}
