package journal_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

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

// clockSetBack returns events of a relay that receives one every ten minutes and
// whose clock goes back by half an hour at every fifth.
func clockSetBack(from, to int) []journal.Entry {
	all := entries(from, to)
	for i := range all {
		n := from + i
		all[i].Received = start.Add(time.Duration(n)*10*time.Minute - time.Duration(n/5)*30*time.Minute)
	}
	return all
}

// expectLatest checks the events of clockSetBack from oldest on.
func expectLatest(t *testing.T, j journal.Journal, oldest, head int) {
	t.Helper()
	var want time.Time
	for i, e := range clockSetBack(1, head) {
		if e.Received.After(want) {
			want = e.Received
		}
		if i+1 < oldest {
			continue
		}
		found, _, err := j.Find(t.Context(), e.ID)
		must(t, err)
		records := read(t, j, int64(i), 1)
		if len(records) != 1 || !found.Latest.Equal(want) || !records[0].Latest.Equal(want) {
			t.Errorf("event %d: the latest is %s when found, %+v are read, want %s", i+1, found.Latest, records, want)
		}
	}
}

func latest(t *testing.T, s *subject) {
	j := s.opened()
	for n := 1; n <= 20; n++ { // one by one, then all together
		appendAll(t, j, clockSetBack(n, n)...)
	}
	appendAll(t, j, clockSetBack(21, 40)...)
	expectLatest(t, j, 1, 40)
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
	for n := range 60 { // thousands of streams may each hold what one read returns
		e := entry(4 + n)
		e.Body = make([]byte, 4<<10)
		appendAll(t, j, e)
	}
	if n := len(read(t, j, 4, 500)); n > 32 {
		t.Errorf("a read returned %d KiB of bodies, want at most 128", 4*n)
	}
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
