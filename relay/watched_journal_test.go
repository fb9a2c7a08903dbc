package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal/journaltest"
)

func TestARelayThatCannotReadWhatItHasAcknowledgedIsNotReady(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(*journaltest.Memory) (mend func())
		reads  int // the status of a page from 2 on, 0 when nobody reads
	}{
		{"reads fail", func(m *journaltest.Memory) func() {
			m.FailReads(errors.New("damaged"))
			return func() { m.FailReads(nil) }
		}, 0},
		{"the newest event is missing", func(m *journaltest.Memory) func() { return m.Lose(5) }, 0},
		{"the oldest event is missing", func(m *journaltest.Memory) func() { return m.Lose(1) }, 0},
		{"an event between them is missing, and was read", func(m *journaltest.Memory) func() { return m.Lose(3) }, http.StatusServiceUnavailable},
		{"the first that was read is missing", func(m *journaltest.Memory) func() { return m.Lose(2) }, http.StatusServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := newMemory(t)
				r := newTestRelay(t, memory, nil)
				deliver(t, r.Ingest(), 1, 5)
				ready := func() (int, string) {
					<-time.After(checkInterval)
					w := get(t, r, "/readyz")
					return w.Code, w.Body.String()
				}
				if status, said := ready(); status != http.StatusOK {
					t.Fatalf("before: %d %s", status, said)
				}
				mend := test.damage(memory)
				if test.reads != 0 {
					if w := get(t, r, EventsPath+"?after=1"); w.Code != test.reads {
						t.Errorf("a page: %d %s", w.Code, w.Body)
					}
				}
				for range 2 {
					if status, said := ready(); status != http.StatusServiceUnavailable || !strings.Contains(said, "cannot be read") {
						t.Errorf("ready: %d %s", status, said)
					}
				}
				mend()
				if status, said := ready(); status != http.StatusOK {
					t.Errorf("after: %d %s", status, said)
				}
			})
		})
	}
}

func TestReadsAreWatchedForHolesAlone(t *testing.T) {
	memory := newMemory(t)
	w := &watched{Journal: memory}
	r := newTestRelay(t, memory, nil)
	deliver(t, r.Ingest(), 1, 10)
	if _, err := memory.Prune(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	deliver(t, r.Ingest(), 11, 12)
	for _, test := range []struct {
		name         string
		after        int64
		limit, count int
	}{
		{"from before what was let go of", 0, 10, 2},
		{"from within it", 5, 10, 2},
		{"at its end", 10, 1, 1},
		{"at the head", 12, 10, 0},
		{"beyond the head", 99, 10, 0},
		{"nothing", 0, 0, 0},
		{"from nowhere", -5, 10, 2},
	} {
		records, err := w.Read(t.Context(), test.after, test.limit)
		if err != nil || len(records) != test.count {
			t.Errorf("%s: %d records, %v", test.name, len(records), err)
		}
	}
	if err := w.checkReads(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
}

func TestAReadThatFailsIsRepeatedBesideIt(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 3)
	w := &watched{Journal: memory}
	memory.FailReads(errors.New("damaged"))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 100 {
				if records, err := w.Read(t.Context(), 0, 3); records != nil || err == nil {
					t.Errorf("%d records, and no error", len(records))
				}
				if w.checkReads(t.Context()) == nil {
					t.Error("the check found nothing")
				}
			}
		})
	}
	readers.Wait()
}

func TestAFailureDuringACheckIsRepeatedByTheNext(t *testing.T) {
	damaged := errors.New("damaged")
	w := &watched{Journal: newMemory(t)}
	w.failed = &failedRead{repeat: func(ctx context.Context) error {
		_, err := try(ctx, w, func(context.Context) (bool, error) { return false, damaged })
		if !errors.Is(err, damaged) {
			t.Errorf("the other read: %v", err)
		}
		return nil
	}}
	if err := w.checkReads(t.Context()); err != nil {
		t.Errorf("the first check: %v", err)
	}
	if err := w.checkReads(t.Context()); !errors.Is(err, damaged) {
		t.Errorf("the second check: %v", err)
	}
}
