package relay

import (
	"context"
	"errors"
	"net/http"
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
		for _, seq := range []int64{4, 7, 8, 9, 30} {
			memory.Lose(seq)
		}
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
