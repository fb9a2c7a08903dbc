package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/postgres"
	"tillwatch/relay/journal/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens the journal with the given name, and creates it if the test did not use
// that name before. The suite closes a journal before it opens it again.
type open func(t *testing.T, name string) journal.Journal

func TestSQLiteIsAJournal(t *testing.T) { conforms(t, inFolders(t)) }

func TestSQLiteIsDurable(t *testing.T) { endures(t, inFolders(t)) }

func TestPostgreSQLIsAJournal(t *testing.T) { conforms(t, inSchemas(t)) }

func TestPostgreSQLIsDurable(t *testing.T) { endures(t, inSchemas(t)) }

// inFolders keeps each journal in a folder of its own.
func inFolders(t *testing.T) open {
	root := t.TempDir()
	folders := map[string]string{}
	return func(t *testing.T, name string) journal.Journal {
		if folders[name] == "" {
			folders[name] = filepath.Join(root, fmt.Sprint(len(folders)), "data")
		}
		return opened(t, sqlite.Open, folders[name])
	}
}

// inSchemas keeps each journal in a schema of its own.
func inSchemas(t *testing.T) open {
	schemas := map[string]string{}
	return func(t *testing.T, name string) journal.Journal {
		if schemas[name] == "" {
			schemas[name] = postgresSchema(t)
		}
		return opened(t, postgres.Open, schemas[name])
	}
}

func opened(t *testing.T, open func(context.Context, string) (journal.Journal, error), place string) journal.Journal {
	t.Helper()
	j, err := open(t.Context(), place)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// conforms checks that open returns journals that keep the contract of [journal.Journal].
func conforms(t *testing.T, open open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *subject)
	}{
		{"a new journal is empty", newIsEmpty},
		{"sequence numbers start at 1 and follow the order of appends", numbersInOrder},
		{"a record is what was appended, byte by byte", recordsAreExact},
		{"the latest time of receipt never goes back", latest},
		{"an id is kept once", idsOnce},
		{"an id with another body is a conflict and the first stays", conflicts},
		{"an id with the same body but for white space is a repetition", otherWhiteSpace},
		{"a backfilled body conflicts with no delivery", backfilledBodies},
		{"a read is a window", readWindows},
		{"a read stops at large bodies but always moves", readBound},
		{"find", find},
		{"wait returns when the head has passed", wait},
		{"wait and append end with their context", contexts},
		{"prune removes a prefix and keeps its ids", prune},
		{"numbers go on after everything was pruned", pruneAll},
		{"what is appended by many is kept once, and numbered without holes", concurrentAppends},
		{"a reader that follows the head misses nothing", follow},
		{"quarantine", quarantine},
		{"the quarantine is bounded", quarantineIsBounded},
		{"a read of the quarantine is bounded", quarantineReadsAreBounded},
		{"check", check},
		{"a closed journal says so", closed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, &subject{t: t, open: open}) })
	}
}

// endures checks that a journal still has what it acknowledged after it was closed
// and opened again.
func endures(t *testing.T, open open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *subject)
	}{
		{"everything is there after a reopening", reopen},
		{"ids are known after a prune and a reopening", reopenPruned},
		{"many ids are known after a reopening", reopenMany},
		{"the latest time of receipt goes on after a reopening", reopenLatest},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, &subject{t: t, open: open}) })
	}
}

// subject is a journal under test.
type subject struct {
	t       *testing.T
	open    open
	journal journal.Journal
}

func (s *subject) opened() journal.Journal {
	s.t.Helper()
	s.journal = s.open(s.t, s.t.Name())
	s.t.Cleanup(func() {
		if err := s.journal.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	})
	return s.journal
}

func (s *subject) reopened() journal.Journal {
	s.t.Helper()
	must(s.t, s.journal.Close())
	s.journal = s.open(s.t, s.t.Name())
	return s.journal
}

var start = time.Date(2026, 4, 21, 3, 27, 50, 123456789, time.UTC)

// entry is the nth event of a series, one received each second.
func entry(n int) journal.Entry {
	return journal.Entry{
		ID:        fmt.Sprintf("evt_ci_%d_awaiting_confirmation", n),
		Type:      "checkout_intent.offer_retrieved",
		CreatedAt: start.Add(time.Duration(n) * time.Second),
		Received:  start.Add(time.Duration(n)*time.Second + time.Millisecond),
		Origin:    journal.Webhook,
		Body:      fmt.Appendf(nil, `{"n": %d}`, n),
	}
}

func entries(from, to int) []journal.Entry {
	var all []journal.Entry
	for n := from; n <= to; n++ {
		all = append(all, entry(n))
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func appendAll(t *testing.T, j journal.Journal, all ...journal.Entry) []journal.Result {
	t.Helper()
	results, err := j.Append(t.Context(), all)
	must(t, err)
	if len(results) != len(all) {
		t.Fatalf("append of %d entries: %d results", len(all), len(results))
	}
	return results
}

func read(t *testing.T, j journal.Journal, after int64, limit int) []journal.Record {
	t.Helper()
	records, err := j.Read(t.Context(), after, limit)
	must(t, err)
	return records
}

// expectRange checks that the journal can read exactly from oldest to head.
func expectRange(t *testing.T, j journal.Journal, oldest, head int64) {
	t.Helper()
	gotHead, err := j.Head(t.Context())
	must(t, err)
	gotOldest, err := j.Oldest(t.Context())
	must(t, err)
	if gotOldest != oldest || gotHead != head {
		t.Fatalf("oldest %d, head %d; want %d, %d", gotOldest, gotHead, oldest, head)
	}
	next := oldest
	for {
		records := read(t, j, next-1, 500)
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			if r.Seq != next {
				t.Fatalf("read %d where %d was due", r.Seq, next)
			}
			next++
		}
	}
	if next != head+1 {
		t.Fatalf("reading ended before %d, head is %d", next, head)
	}
}

func expectEntry(t *testing.T, r journal.Record, e journal.Entry) {
	t.Helper()
	same := r.ID == e.ID && r.Type == e.Type && r.Origin == e.Origin &&
		r.CreatedAt.Equal(e.CreatedAt) && r.Received.Equal(e.Received) && bytes.Equal(r.Body, e.Body)
	if !same {
		t.Errorf("record is %+v, appended was %+v", r, e)
	}
}

func expectResults(t *testing.T, results []journal.Result, want ...journal.Result) {
	t.Helper()
	if !slices.Equal(results, want) {
		t.Errorf("results are %+v, want %+v", results, want)
	}
}

// expectAgain checks the counts of duplicates and conflicts of a record.
func expectAgain(t *testing.T, r journal.Record, duplicates, conflicts int) {
	t.Helper()
	if r.Duplicates != duplicates || r.Conflicts != conflicts {
		t.Errorf("record %d: %d duplicates, %d conflicts; want %d, %d", r.Seq, r.Duplicates, r.Conflicts, duplicates, conflicts)
	}
}

func concurrently(n int, work func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i) })
	}
	wg.Wait()
}

func isEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
