package journal_test

import (
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
