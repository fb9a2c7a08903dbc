package journaltest

import (
	"bytes"
	"context"
	"errors"
	"sync"
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
	for i, r := range results {
		if want := (journal.Result{Seq: int64(i + 1)}); r != want {
			t.Errorf("result %d is %+v, want %+v", i, r, want)
		}
	}
	if results := appendAll(t, j); len(results) != 0 {
		t.Errorf("an append of nothing gave %v", results)
	}
	expectRange(t, j, 1, 4)
}

func recordsAreExact(t *testing.T, s *subject) {
	j := s.opened()
	strange := []journal.Entry{
		entry(1),
		{ID: "shop.example:chili/crisp ü\x00", Type: "", Origin: journal.Backfill, Body: []byte("\x00\xff\r\n{}")},
		{ID: "", Origin: journal.Replay, Body: nil},
		{ID: "evt_long", Origin: journal.Webhook, Body: bytes.Repeat([]byte("long"), 1<<18)},
	}
	appendAll(t, j, strange...)
	for i, e := range strange {
		expectEntry(t, read(t, j, int64(i), 1)[0], e)
	}
}

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

func readWindows(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 10)...)
	for _, test := range []struct {
		after       int64
		limit       int
		first, last int64
	}{
		{0, 3, 1, 3}, {3, 3, 4, 6}, {9, 3, 10, 10}, {-5, 2, 1, 2}, {0, 100, 1, 10},
		{10, 3, 0, 0}, {1 << 60, 3, 0, 0}, {0, 0, 0, 0}, {0, -1, 0, 0},
	} {
		records := read(t, j, test.after, test.limit)
		if test.first == 0 {
			if len(records) != 0 {
				t.Errorf("read after %d, limit %d: %d records, want none", test.after, test.limit, len(records))
			}
			continue
		}
		if int64(len(records)) != test.last-test.first+1 || records[0].Seq != test.first {
			t.Errorf("read after %d, limit %d: %d records from %d", test.after, test.limit, len(records), records[0].Seq)
		}
	}
}

func readBound(t *testing.T, s *subject) {
	j := s.opened()
	for n := range 4 {
		e := entry(n)
		e.Body = make([]byte, journal.ReadBytes/2+1)
		appendAll(t, j, e)
	}
	if n := len(read(t, j, 0, 4)); n != 2 {
		t.Errorf("%d records of more than half of ReadBytes each, want 2", n)
	}
	expectRange(t, j, 1, 4)
}

func find(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 3)...)
	record, found, err := j.Find(t.Context(), entry(2).ID)
	must(t, err)
	if !found || record.Seq != 2 {
		t.Fatalf("found %v, at %d", found, record.Seq)
	}
	expectEntry(t, record, entry(2))
	if _, found, err := j.Find(t.Context(), "evt_none"); found || err != nil {
		t.Errorf("an unknown id: found %v, error %v", found, err)
	}
}

func wait(t *testing.T, s *subject) {
	j := s.opened()
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(t.Context(), 1) }()
	appendAll(t, j, entry(1))
	select {
	case err := <-waited:
		t.Fatalf("wait after 1 returned at head 1: %v", err)
	default:
	}
	appendAll(t, j, entry(2))
	must(t, <-waited)
	must(t, j.Wait(t.Context(), 0))
}

func contexts(t *testing.T, s *subject) {
	j := s.opened()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(ctx, 0) }()
	cancel()
	if err := <-waited; !isEnd(err) {
		t.Errorf("wait: %v", err)
	}
	if _, err := j.Append(ctx, entries(1, 1)); !isEnd(err) {
		t.Errorf("append: %v", err)
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
	if results := appendAll(t, j, entry(2)); results[0] != (journal.Result{Seq: 2, Duplicate: true}) {
		t.Errorf("a pruned id again: %+v", results[0])
	}
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
	if results := appendAll(t, j, entry(6)); results[0].Seq != 6 {
		t.Errorf("the next is %d, want 6", results[0].Seq)
	}
	expectRange(t, j, 6, 6)
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
		if r.Duplicates != workers-1 {
			t.Errorf("record %d has %d duplicates, want %d", r.Seq, r.Duplicates, workers-1)
		}
	}
}

func follow(t *testing.T, s *subject) {
	const writers, each = 8, 50
	j := s.opened()
	var appending sync.WaitGroup
	defer appending.Wait() // an event may be read before its append has returned
	appending.Go(func() {
		concurrently(writers, func(writer int) {
			for n := range each {
				if _, err := j.Append(t.Context(), entries(writer*each+n, writer*each+n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	})
	for cursor := int64(0); cursor < writers*each; {
		must(t, j.Wait(t.Context(), cursor))
		records := read(t, j, cursor, 7)
		if len(records) == 0 {
			t.Fatalf("the head is above %d, and nothing can be read", cursor)
		}
		for _, r := range records {
			if r.Seq != cursor+1 {
				t.Fatalf("read %d after %d", r.Seq, cursor)
			}
			cursor = r.Seq
		}
		head, err := j.Head(t.Context())
		must(t, err)
		if cursor > head {
			t.Fatalf("read %d while the head was %d", cursor, head)
		}
	}
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

func check(t *testing.T, s *subject) {
	j := s.opened()
	must(t, j.Check(t.Context()))
	expectRange(t, j, 1, 0)
}

func closed(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entry(1))
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(t.Context(), 1) }()
	must(t, j.Close())
	must(t, j.Close())
	_, appendErr := j.Append(t.Context(), entries(2, 2))
	_, readErr := j.Read(t.Context(), 0, 1)
	_, _, findErr := j.Find(t.Context(), entry(1).ID)
	_, headErr := j.Head(t.Context())
	_, oldestErr := j.Oldest(t.Context())
	_, pruneErr := j.Prune(t.Context(), start)
	_, quarantinedErr := j.Quarantined(t.Context(), 1)
	for name, err := range map[string]error{
		"wait":        <-waited,
		"append":      appendErr,
		"read":        readErr,
		"find":        findErr,
		"head":        headErr,
		"oldest":      oldestErr,
		"prune":       pruneErr,
		"quarantine":  j.Quarantine(t.Context(), journal.Unreadable{}),
		"quarantined": quarantinedErr,
		"check":       j.Check(t.Context()),
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

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
	if record.Duplicates != 1 {
		t.Errorf("%d duplicates, want 1", record.Duplicates)
	}
	results := appendAll(t, j, entry(3), entry(6))
	if results[0] != (journal.Result{Seq: 3, Duplicate: true}) || results[1] != (journal.Result{Seq: 6}) {
		t.Errorf("after a reopening: %+v", results)
	}
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
		if results := appendAll(t, j, entry(n)); results[0] != (journal.Result{Seq: int64(n), Duplicate: true}) {
			t.Errorf("id %d after a prune and a reopening: %+v", n, results[0])
		}
	}
	_, err := j.Prune(t.Context(), start.Add(time.Hour))
	must(t, err)
	j = s.reopened()
	expectRange(t, j, 11, 10)
	if results := appendAll(t, j, entry(11)); results[0].Seq != 11 {
		t.Errorf("the next is %d, want 11", results[0].Seq)
	}
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
	if results := appendAll(t, j, entry(many+1)); results[0].Seq != many+1 {
		t.Errorf("the next is %d, want %d", results[0].Seq, many+1)
	}
}
