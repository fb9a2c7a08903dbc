package journal_test

import (
	"testing"
	"time"

	"tillwatch/relay/journal"
)

func reopen(t *testing.T, s *subject) {
	j := s.opened()
	epoch := j.Epoch()
	appendAll(t, j, entries(1, 5)...)
	appendAll(t, j, entry(5))
	j = s.reopened()
	if j.Epoch() != epoch {
		t.Errorf("the epoch was %s and is %s", epoch, j.Epoch())
	}
	expectRange(t, j, 1, 5)
	record := read(t, j, 4, 1)[0]
	expectEntry(t, record, entry(5))
	expectAgain(t, record, 1, 0)
	expectResults(t, appendAll(t, j, entry(3), entry(6)), journal.Result{Seq: 3, Duplicate: true}, journal.Result{Seq: 6})
}

func reopenLatest(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, clockSetBack(1, 9)...)
	j = s.reopened()
	appendAll(t, j, clockSetBack(10, 11)...)
	expectLatest(t, j, 1, 11)
	_, err := j.Prune(t.Context(), clockSetBack(3, 3)[0].Received)
	must(t, err)
	expectLatest(t, j, 3, 11)
	j = s.reopened()
	appendAll(t, j, clockSetBack(12, 13)...)
	expectLatest(t, j, 3, 13)
}

func reopenPruned(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 10)...)
	for _, until := range []int{4, 8} {
		_, err := j.Prune(t.Context(), entry(until).Received)
		must(t, err)
	}
	j = s.reopened()
	expectRange(t, j, 8, 10)
	for n := 1; n <= 10; n++ {
		expectResults(t, appendAll(t, j, entry(n)), journal.Result{Seq: int64(n), Duplicate: true})
	}
	_, err := j.Prune(t.Context(), start.Add(time.Hour))
	must(t, err)
	j = s.reopened()
	expectRange(t, j, 11, 10)
	expectResults(t, appendAll(t, j, entry(11)), journal.Result{Seq: 11})
}

func reopenMany(t *testing.T, s *subject) {
	const many, step = 9000, 1000
	j := s.opened()
	for n := 1; n <= many; n += step {
		appendAll(t, j, entries(n, n+step-1)...)
	}
	j = s.reopened()
	for n := 1; n <= many; n += step {
		for i, result := range appendAll(t, j, entries(n, n+step-1)...) {
			if result != (journal.Result{Seq: int64(n + i), Duplicate: true}) {
				t.Fatalf("id %d after a reopening: %+v", n+i, result)
			}
		}
	}
	expectResults(t, appendAll(t, j, entry(many+1)), journal.Result{Seq: many + 1})
}
