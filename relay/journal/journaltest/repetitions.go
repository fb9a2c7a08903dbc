package journaltest

import (
	"fmt"
	"testing"

	"tillwatch/relay/journal"
)

func idsOnce(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 2)...)
	results := appendAll(t, j, entry(2), entry(3), entry(3), entry(1))
	want := []journal.Result{{Seq: 2, Duplicate: true}, {Seq: 3}, {Seq: 3, Duplicate: true}, {Seq: 1, Duplicate: true}}
	for i := range want {
		if results[i] != want[i] {
			t.Errorf("result %d is %+v, want %+v", i, results[i], want[i])
		}
	}
	appendAll(t, j, entry(3))
	expectRange(t, j, 1, 3)
	for i, r := range read(t, j, 0, 10) {
		if want := []int{1, 1, 2}[i]; r.Duplicates != want || r.Conflicts != 0 {
			t.Errorf("record %d: %d duplicates, %d conflicts; want %d, 0", r.Seq, r.Duplicates, r.Conflicts, want)
		}
	}
}

func conflicts(t *testing.T, s *subject) {
	j := s.opened()
	other := entry(1)
	other.Body = []byte("other")
	results := appendAll(t, j, entry(1), other, entry(1))
	results = append(results, appendAll(t, j, other)...)
	for i, want := range []journal.Result{
		{Seq: 1},
		{Seq: 1, Duplicate: true, Conflict: true},
		{Seq: 1, Duplicate: true},
		{Seq: 1, Duplicate: true, Conflict: true},
	} {
		if results[i] != want {
			t.Errorf("result %d is %+v, want %+v", i, results[i], want)
		}
	}
	record := read(t, j, 0, 1)[0]
	expectEntry(t, record, entry(1))
	if record.Duplicates != 3 || record.Conflicts != 2 {
		t.Errorf("%d duplicates, %d conflicts; want 3, 2", record.Duplicates, record.Conflicts)
	}
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
	results = append(results, appendAll(t, j, entry(2), spaced(1), other)...)
	for i, want := range []journal.Result{
		{Seq: 1}, {Seq: 1, Duplicate: true}, {Seq: 2},
		{Seq: 2, Duplicate: true}, {Seq: 1, Duplicate: true}, {Seq: 1, Duplicate: true, Conflict: true},
	} {
		if results[i] != want {
			t.Errorf("result %d is %+v, want %+v", i, results[i], want)
		}
	}
	for i, r := range read(t, j, 0, 10) {
		expectEntry(t, r, []journal.Entry{entry(1), spaced(2)}[i])
		if duplicates, conflicts := 3-2*i, 1-i; r.Duplicates != duplicates || r.Conflicts != conflicts {
			t.Errorf("record %d: %d duplicates, %d conflicts; want %d, %d", r.Seq, r.Duplicates, r.Conflicts, duplicates, conflicts)
		}
	}
}

func backfilledBodies(t *testing.T, s *subject) {
	j := s.opened()
	told := func(n int) journal.Entry {
		e := entry(n)
		e.Origin, e.Body = journal.Backfill, []byte("as a list tells it")
		return e
	}
	results := appendAll(t, j, told(1), entry(1), entry(2))
	results = append(results, appendAll(t, j, entry(1), told(2))...)
	for i, want := range []journal.Result{
		{Seq: 1}, {Seq: 1, Duplicate: true}, {Seq: 2}, {Seq: 1, Duplicate: true}, {Seq: 2, Duplicate: true},
	} {
		if results[i] != want {
			t.Errorf("result %d is %+v, want %+v", i, results[i], want)
		}
	}
	for i, r := range read(t, j, 0, 10) {
		expectEntry(t, r, []journal.Entry{told(1), entry(2)}[i])
		if want := 2 - i; r.Duplicates != want || r.Conflicts != 0 {
			t.Errorf("record %d: %d duplicates, %d conflicts; want %d, 0", r.Seq, r.Duplicates, r.Conflicts, want)
		}
	}
}
