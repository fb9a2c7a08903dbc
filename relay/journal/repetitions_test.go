package journal_test

import (
	"fmt"
	"testing"

	"tillwatch/relay/journal"
)

func idsOnce(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 2)...)
	expectResults(t, appendAll(t, j, entry(2), entry(3), entry(3), entry(1)),
		journal.Result{Seq: 2, Duplicate: true}, journal.Result{Seq: 3}, journal.Result{Seq: 3, Duplicate: true}, journal.Result{Seq: 1, Duplicate: true})
	appendAll(t, j, entry(3))
	expectRange(t, j, 1, 3)
	for i, r := range read(t, j, 0, 10) {
		expectAgain(t, r, []int{1, 1, 2}[i], 0)
	}
}

func conflicts(t *testing.T, s *subject) {
	j := s.opened()
	other := entry(1)
	other.Body = []byte("other")
	results := appendAll(t, j, entry(1), other, entry(1))
	expectResults(t, append(results, appendAll(t, j, other)...),
		journal.Result{Seq: 1},
		journal.Result{Seq: 1, Duplicate: true, Conflict: true},
		journal.Result{Seq: 1, Duplicate: true},
		journal.Result{Seq: 1, Duplicate: true, Conflict: true})
	record := read(t, j, 0, 1)[0]
	expectEntry(t, record, entry(1))
	expectAgain(t, record, 3, 2)
}

func otherWhiteSpace(t *testing.T, s *subject) {
	j := s.opened()
	spaced := func(n int) journal.Entry {
		e := entry(n)
		e.Body = fmt.Appendf(nil, "\r\n{\"n\"\t:%d }\n", n)
		return e
	}
	other := spaced(1)
	other.Body = []byte(`{"n":"1"}`)
	// Together, then one after the other.
	results := appendAll(t, j, entry(1), spaced(1), spaced(2))
	expectResults(t, append(results, appendAll(t, j, entry(2), spaced(1), other)...),
		journal.Result{Seq: 1}, journal.Result{Seq: 1, Duplicate: true}, journal.Result{Seq: 2},
		journal.Result{Seq: 2, Duplicate: true}, journal.Result{Seq: 1, Duplicate: true}, journal.Result{Seq: 1, Duplicate: true, Conflict: true})
	for i, r := range read(t, j, 0, 10) {
		expectEntry(t, r, []journal.Entry{entry(1), spaced(2)}[i])
		expectAgain(t, r, 3-2*i, 1-i)
	}
}

func backfilledBodies(t *testing.T, s *subject) {
	j := s.opened()
	listed := func(n int) journal.Entry {
		e := entry(n)
		e.Origin, e.Body = journal.Backfill, []byte("from a list")
		return e
	}
	results := appendAll(t, j, listed(1), entry(1), entry(2))
	expectResults(t, append(results, appendAll(t, j, entry(1), listed(2))...),
		journal.Result{Seq: 1}, journal.Result{Seq: 1, Duplicate: true}, journal.Result{Seq: 2},
		journal.Result{Seq: 1, Duplicate: true}, journal.Result{Seq: 2, Duplicate: true})
	for i, r := range read(t, j, 0, 10) {
		expectEntry(t, r, []journal.Entry{listed(1), entry(2)}[i])
		expectAgain(t, r, 2-i, 0)
	}
}
