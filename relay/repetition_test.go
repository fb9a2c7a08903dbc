package relay

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
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

// Repetitions are repetitions for as long as ids are kept, which is for ever: a
// month later, of another process, and when the body is gone.
func TestADuplicateIsOneAMonthLaterAfterARestartAndAfterPruning(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		open := func() (journal.Journal, *Relay) {
			j, err := sqlite.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			return j, newTestRelay(t, j, nil)
		}
		expect := func(j journal.Journal, r *Relay, when string, again int) {
			t.Helper()
			deliver(t, r.Ingest(), 1, 1)
			record, found, err := j.Find(t.Context(), eventID(1))
			if err != nil || !found || record.Seq != 1 || record.Duplicates != again || headOf(t, j) != 2 {
				t.Errorf("%s: the record is %+v, the head %d, %v", when, record, headOf(t, j), err)
			}
		}
		j, r := open()
		deliver(t, r.Ingest(), 1, 2)
		expect(j, r, "at once", 1)
		<-time.After(31 * 24 * time.Hour)
		expect(j, r, "a month later", 2)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j, r = open()
		expect(j, r, "after a restart", 3)
		if removed, err := j.Prune(t.Context(), time.Now()); err != nil || removed != 2 {
			t.Fatalf("%d were pruned, %v", removed, err)
		}
		expect(j, r, "after pruning", 0) // what was known of it is gone, and the id is not
		if got := scraped(t, r)[`tillwatch_deliveries_total{outcome="duplicate"}`]; got != "2" {
			t.Errorf("%s deliveries are counted as duplicates", got)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j, r = open()
		expect(j, r, "after pruning and a restart", 0)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func eventID(n int) string {
	var event struct{ ID string }
	if err := json.Unmarshal(eventBody(n), &event); err != nil {
		panic(err)
	}
	return event.ID
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
