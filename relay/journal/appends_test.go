package journal_test

import (
	"bytes"
	"sync/atomic"
	"testing"

	"tillwatch/relay/journal"
)

func newIsEmpty(t *testing.T, s *subject) {
	j := s.opened()
	expectRange(t, j, 1, 0)
	if j.Epoch() == "" {
		t.Error("no epoch")
	}
}

func numbersInOrder(t *testing.T, s *subject) {
	j := s.opened()
	results := append(appendAll(t, j, entries(1, 3)...), appendAll(t, j, entry(4))...)
	expectResults(t, results, journal.Result{Seq: 1}, journal.Result{Seq: 2}, journal.Result{Seq: 3}, journal.Result{Seq: 4})
	expectResults(t, appendAll(t, j))
	expectRange(t, j, 1, 4)
}

func recordsAreExact(t *testing.T, s *subject) {
	j := s.opened()
	strange := []journal.Entry{
		entry(1),
		{ID: "shop.example:chili/crisp ü\x00", Type: "", Origin: journal.Backfill, Body: []byte("\x00\xff\r\n{}")},
		{ID: "", Origin: "another", Body: nil},
		{ID: "evt_long", Origin: journal.Webhook, Body: bytes.Repeat([]byte("long"), 1<<18)},
	}
	appendAll(t, j, strange...)
	for i, e := range strange {
		expectEntry(t, read(t, j, int64(i), 1)[0], e)
	}
}

func concurrentAppends(t *testing.T, s *subject) {
	const workers, ids = 50, 20
	j := s.opened()
	var fresh, repeated atomic.Int64
	concurrently(workers, func(worker int) {
		for n := range ids {
			results, err := j.Append(t.Context(), []journal.Entry{entry((n + worker) % ids)})
			if err != nil {
				t.Error(err)
				return
			}
			if results[0].Duplicate {
				repeated.Add(1)
			} else {
				fresh.Add(1)
			}
		}
	})
	if fresh.Load() != ids || repeated.Load() != (workers-1)*ids {
		t.Errorf("%d new and %d duplicates, want %d and %d", fresh.Load(), repeated.Load(), ids, (workers-1)*ids)
	}
	expectRange(t, j, 1, ids)
	for _, r := range read(t, j, 0, ids) {
		expectAgain(t, r, workers-1, 0)
	}
}

func check(t *testing.T, s *subject) {
	j := s.opened()
	must(t, j.Check(t.Context()))
	expectRange(t, j, 1, 0)
}
