package journal_test

import (
	"bytes"
	"testing"

	"tillwatch/relay/journal"
)

// appendTogether appends the entries from 1 to 40 in calls of many sizes, with
// a body of 1 MiB, a conflict and repetitions between them.
func appendTogether(t *testing.T, j journal.Journal) []journal.Entry {
	t.Helper()
	all := entries(1, 40)
	all[24].Body = bytes.Repeat([]byte("x"), 1<<20)
	for from, size := 0, 1; from < len(all); from, size = from+size, size+3 {
		appendAll(t, j, all[from:min(from+size, len(all))]...)
	}
	other := all[17]
	other.Body = []byte("other")
	appendAll(t, j, other, all[17], all[18], other)
	return all
}

// expectTogether checks the entries from oldest on.
func expectTogether(t *testing.T, j journal.Journal, all []journal.Entry, oldest int64) {
	t.Helper()
	expectRange(t, j, oldest, int64(len(all)))
	for after := oldest - 1; after < int64(len(all)); after++ {
		for _, limit := range []int{1, 3, 100} {
			records := read(t, j, after, limit)
			if len(records) == 0 || records[0].Seq != after+1 || len(records) > limit {
				t.Fatalf("read after %d, limit %d: %d records", after, limit, len(records))
			}
			for _, r := range records {
				expectEntry(t, r, all[r.Seq-1])
				expectCounts(t, r)
			}
		}
		record, found, err := j.Find(t.Context(), all[after].ID)
		must(t, err)
		if !found || record.Seq != after+1 {
			t.Fatalf("event %d is found %t, at %d", after+1, found, record.Seq)
		}
		expectEntry(t, record, all[after])
		expectCounts(t, record)
	}
}

// expectCounts checks how often an entry of appendTogether came again.
func expectCounts(t *testing.T, r journal.Record) {
	t.Helper()
	switch r.Seq {
	case 18:
		expectAgain(t, r, 3, 2)
	case 19:
		expectAgain(t, r, 1, 0)
	default:
		expectAgain(t, r, 0, 0)
	}
}

func together(t *testing.T, s *subject) {
	j := s.opened()
	expectTogether(t, j, appendTogether(t, j), 1)
}

func pruneTogether(t *testing.T, s *subject) {
	j := s.opened()
	all := appendTogether(t, j)
	for _, oldest := range []int64{2, 9, 10, 18, 25, 26, 40} {
		removed, err := j.Prune(t.Context(), all[oldest-1].Received)
		must(t, err)
		if removed == 0 {
			t.Errorf("a prune up to %d removed nothing", oldest)
		}
		expectTogether(t, j, all, oldest)
	}
	expectResults(t, appendAll(t, j, all[17]), journal.Result{Seq: 18, Duplicate: true})
}

func reopenTogether(t *testing.T, s *subject) {
	j := s.opened()
	all := appendTogether(t, j)
	_, err := j.Prune(t.Context(), all[12].Received)
	must(t, err)
	j = s.reopened()
	expectTogether(t, j, all, 13)
	other := all[30]
	other.Body = nil
	expectResults(t, appendAll(t, j, other), journal.Result{Seq: 31, Duplicate: true, Conflict: true})
}
