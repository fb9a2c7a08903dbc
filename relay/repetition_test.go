package relay

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// repeatedIDs is how many ids each of a thousand senders posts. The long form:
//
//	go test ./relay -run ThousandSenders -repeated-ids 100
var repeatedIDs = flag.Int("repeated-ids", 5, "ids that each of 1000 senders posts; the long form is 100")

// opened opens an SQLite journal until the test ends.
func opened(t testing.TB, dir string) journal.Journal {
	t.Helper()
	j, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestAThousandSendersOfTheSameEventsAreAllAcknowledgedAndEachEventIsKeptOnce(t *testing.T) {
	const senders = 1000
	ids := *repeatedIDs
	j := opened(t, t.TempDir())
	r := newTestRelay(t, j, nil)
	h := r.Ingest()
	var bodies [][]byte
	for n := range ids {
		bodies = append(bodies, eventBody(n))
	}
	var wg sync.WaitGroup
	for sender := range senders {
		wg.Go(func() {
			for n := range ids {
				if w := serve(h, signedRequest(bodies[(sender+n)%ids])); w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	wg.Wait()
	records, err := j.Read(t.Context(), 0, 1000)
	if err != nil || len(records) != ids {
		t.Fatalf("%d events are stored, want %d; %v", len(records), ids, err)
	}
	for _, record := range records {
		if record.Duplicates != senders-1 || record.Conflicts != 0 {
			t.Errorf("event %d came again %d times, want %d; %d conflicts", record.Seq, record.Duplicates, senders-1, record.Conflicts)
		}
	}
	values := scraped(t, r)
	for outcome, want := range map[string]int{"stored": ids, "duplicate": senders*ids - ids} {
		if got := values[fmt.Sprintf("tillwatch_deliveries_total{outcome=%q}", outcome)]; got != fmt.Sprint(want) {
			t.Errorf("%s %s deliveries, want %d", got, outcome, want)
		}
	}
}

func TestTheFirstBodyOfAnIDStaysAndTheConflictIsShown(t *testing.T) {
	j := opened(t, t.TempDir())
	log := &recorded{}
	r := newTestRelay(t, j, func(cfg *Config) { cfg.Logger = log.logger() })
	first, other := []byte(`{"id":"evt_1","type":"a"}`), []byte(`{"id":"evt_1","type":"b"}`)
	for _, body := range [][]byte{first, other, first} {
		if w := serve(r.Ingest(), signedRequest(body)); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	record, _, err := j.Find(t.Context(), "evt_1")
	if err != nil || string(record.Body) != string(first) || record.Conflicts != 1 || record.Duplicates != 2 {
		t.Errorf("the record is %+v, %v", record, err)
	}
	if text := log.String(); strings.Count(text, "a different body") != 1 {
		t.Errorf("the log is %q", text)
	}
	if got := scraped(t, r)[`tillwatch_deliveries_total{outcome="conflict"}`]; got != "1" {
		t.Errorf("the metrics count %s conflicts", got)
	}
	var listed struct {
		Events []struct{ Dups, Conflicts int }
	}
	w := get(t, r, EventsPath)
	if err := json.Unmarshal(w.Body.Bytes(), &listed); err != nil || len(listed.Events) != 1 ||
		listed.Events[0].Dups != 2 || listed.Events[0].Conflicts != 1 {
		t.Errorf("the reading side shows %s, %v", w.Body, err)
	}
}

// slowDisk is a journal whose disk stands still until a time: what is written
// meanwhile is durable only then, as behind an fsync that does not return.
type slowDisk struct {
	journal.Journal
	until time.Time
	late  bool // the write reaches the disk at the end of the stall, not before it
}

func (d slowDisk) Append(ctx context.Context, entries []journal.Entry) (results []journal.Result, err error) {
	if !d.late {
		results, err = d.Journal.Append(context.WithoutCancel(ctx), entries)
	}
	select {
	case <-time.After(time.Until(d.until)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.late {
		return d.Journal.Append(ctx, entries)
	}
	return results, err
}

func (d slowDisk) Check(ctx context.Context) error {
	select {
	case <-time.After(time.Until(d.until)):
		return d.Journal.Check(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestADiskThatStandsStillForTenSecondsLosesAndDoublesNothing(t *testing.T) {
	for name, late := range map[string]bool{"before the write": true, "after the write": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				const senders, stall = 64, 10 * time.Second
				stored, err := sqlite.Open(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				defer stored.Close()
				disk := slowDisk{stored, time.Now().Add(stall), late}
				r := newTestRelay(t, disk, nil)
				var refused, early atomic.Int64
				var tasks sync.WaitGroup
				for n := range senders {
					tasks.Go(func() {
						for {
							began := time.Now()
							w := serve(r.Ingest(), signedRequest(eventBody(n)))
							if waited := time.Since(began); waited > 3*time.Second {
								t.Errorf("answered %d after %v", w.Code, waited)
							}
							if w.Code == http.StatusOK {
								if time.Now().Before(disk.until) {
									early.Add(1)
								}
								return
							}
							refused.Add(1)
							<-time.After(2 * time.Second) // as Retry-After says
						}
					})
				}
				ready := func() int {
					return serve(r.Ingest(), httptest.NewRequest(http.MethodGet, "/readyz", nil)).Code
				}
				<-time.After(stall / 2)
				if status := ready(); status != http.StatusServiceUnavailable {
					t.Errorf("ready in the midst of it: %d", status)
				}
				tasks.Wait()
				<-time.After(2 * checkInterval)
				if status := ready(); status != http.StatusOK {
					t.Errorf("ready after it: %d", status)
				}
				if refused.Load() < senders || early.Load() > 0 {
					t.Errorf("%d refusals; %d were acknowledged before they were durable", refused.Load(), early.Load())
				}
				records, err := stored.Read(t.Context(), 0, 2*senders)
				if err != nil || len(records) != senders {
					t.Fatalf("%d events are stored, want %d; %v", len(records), senders, err)
				}
				ids := map[string]bool{}
				for _, record := range records {
					ids[record.ID] = true
				}
				if len(ids) != senders {
					t.Errorf("%d ids of %d events", len(ids), senders)
				}
			})
		})
	}
}
