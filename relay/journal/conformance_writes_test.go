package journal_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

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

func prune(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 10)...)
	removed, err := j.Prune(t.Context(), entry(4).Received)
	must(t, err)
	if removed != 3 {
		t.Errorf("removed %d, want 3", removed)
	}
	expectRange(t, j, 4, 10)
	expectResults(t, appendAll(t, j, entry(2)), journal.Result{Seq: 2, Duplicate: true})
	record, found, err := j.Find(t.Context(), entry(2).ID)
	must(t, err)
	if !found || record.Seq != 2 || record.ID != entry(2).ID || record.Body != nil {
		t.Errorf("a pruned id is found as %v, %+v", found, record)
	}
	if removed, err := j.Prune(t.Context(), entry(4).Received); removed != 0 || err != nil {
		t.Errorf("a second prune removed %d, error %v", removed, err)
	}
}

func pruneAll(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 5)...)
	_, err := j.Prune(t.Context(), start.Add(time.Hour))
	must(t, err)
	expectRange(t, j, 6, 5)
	expectResults(t, appendAll(t, j, entry(6)), journal.Result{Seq: 6})
	expectRange(t, j, 6, 6)
}

func quarantine(t *testing.T, s *subject) {
	j := s.opened()
	for i, body := range []string{"first", "", "third"} {
		must(t, j.Quarantine(t.Context(), journal.Unreadable{
			Received: start.Add(time.Duration(i) * time.Second), Reason: "not JSON", Body: []byte(body),
		}))
	}
	newest, err := j.Quarantined(t.Context(), 2)
	must(t, err)
	if len(newest) != 2 || string(newest[0].Body) != "third" || len(newest[1].Body) != 0 ||
		newest[0].Reason != "not JSON" || !newest[0].Received.Equal(start.Add(2*time.Second)) {
		t.Errorf("the newest two are %+v", newest)
	}
	expectRange(t, j, 1, 0)
	_, err = j.Prune(t.Context(), start.Add(2*time.Second))
	must(t, err)
	if left, err := j.Quarantined(t.Context(), 10); err != nil || len(left) != 1 {
		t.Errorf("%d are left after a prune, error %v", len(left), err)
	}
}

func quarantineIsBounded(t *testing.T, s *subject) {
	j := s.opened()
	for i := range journal.MostQuarantined + 2 {
		must(t, j.Quarantine(t.Context(), journal.Unreadable{Received: start, Reason: "not JSON", Body: []byte{byte(i)}}))
	}
	kept, err := j.Quarantined(t.Context(), 10*journal.MostQuarantined)
	must(t, err)
	if len(kept) != journal.MostQuarantined || kept[0].Body[0] != journal.MostQuarantined+1 || kept[len(kept)-1].Body[0] != 2 {
		t.Errorf("%d of %d quarantined bodies are kept; the newest %d should be", len(kept), journal.MostQuarantined+2, journal.MostQuarantined)
	}
}

func quarantineReadsAreBounded(t *testing.T, s *subject) {
	j := s.opened()
	for i := range 6 {
		body := make([]byte, journal.QuarantineBytes/3)
		body[0] = byte(i)
		must(t, j.Quarantine(t.Context(), journal.Unreadable{Received: start, Reason: "not UTF-8", Body: body}))
	}
	newest, err := j.Quarantined(t.Context(), 6)
	must(t, err)
	// The bodies of three have two bytes less.
	if len(newest) != 4 || newest[0].Body[0] != 5 || newest[3].Body[0] != 2 {
		t.Errorf("%d bodies, want the newest four", len(newest))
	}
}
