package relay

import (
	"math/rand/v2"
	"testing"
)

func event(seq int64, size int) encoded {
	return encoded{seq: seq, kind: "a", text: make([]byte, size)}
}

// expectRing reads the ring from cursor and checks that it gives what follows.
func expectRing(t *testing.T, r *ring, cursor int64) {
	t.Helper()
	events, changed, held := r.after(cursor, 1<<30, nil)
	if want := cursor+1 >= r.oldest; held != want {
		t.Fatalf("after %d with oldest %d: held %v", cursor, r.oldest, held)
	}
	if !held {
		return
	}
	for i, e := range events {
		if e.seq != cursor+1+int64(i) {
			t.Fatalf("after %d: event %d at place %d", cursor, e.seq, i)
		}
	}
	if last := max(cursor, r.head); cursor+int64(len(events)) != last || changed == nil {
		t.Fatalf("after %d: %d events, head %d", cursor, len(events), r.head)
	}
}

func TestARingHoldsTheNewestWithinItsBounds(t *testing.T) {
	r := newRing(10)
	if r.oldest != 11 || r.head != 10 {
		t.Fatalf("a new ring holds %d to %d", r.oldest, r.head)
	}
	for r.head < 4*ringItems {
		var batch []encoded
		for seq := r.head + 1; len(batch) < 1+rand.IntN(tailBatch); seq++ {
			batch = append(batch, event(seq, rand.IntN(8000)))
		}
		r.add(batch)
		held, bytes := r.head-r.oldest+1, 0
		for seq := r.oldest; seq <= r.head; seq++ {
			bytes += len(r.slot(seq).text)
		}
		if held > ringItems || bytes > ringBytes || bytes != r.bytes {
			t.Fatalf("the ring holds %d events of %d bytes and counts %d", held, bytes, r.bytes)
		}
		for range 5 {
			expectRing(t, r, r.oldest-3+rand.Int64N(held+6))
		}
	}
}

func TestARingTakesAnEventLargerThanItself(t *testing.T) {
	r := newRing(0)
	r.add([]encoded{event(1, 10), event(2, ringBytes+1), event(3, 10)})
	if r.oldest != 3 || r.head != 3 {
		t.Errorf("the ring holds %d to %d", r.oldest, r.head)
	}
}

func TestARingHoldsNoHole(t *testing.T) {
	r := newRing(0)
	r.add([]encoded{event(1, 10), event(2, 10), event(7, 10)})
	for cursor := range int64(6) {
		if _, _, held := r.after(cursor, 1<<20, nil); held {
			t.Errorf("the ring claims to hold what follows %d", cursor)
		}
	}
	expectRing(t, r, 6)
}

func TestAReadOfARingIsBoundedButMoves(t *testing.T) {
	r := newRing(0)
	r.add([]encoded{event(1, 100), event(2, 100), event(3, 100)})
	for limit, want := range map[int]int{1: 1, 100: 1, 101: 2, 1000: 3} {
		if events, _, _ := r.after(0, limit, nil); len(events) != want {
			t.Errorf("limit %d: %d events, want %d", limit, len(events), want)
		}
	}
}

func TestARingTellsThatItHasMore(t *testing.T) {
	r := newRing(0)
	_, changed, _ := r.after(0, 100, nil)
	select {
	case <-changed:
		t.Fatal("an empty ring says that it has more")
	default:
	}
	r.add([]encoded{event(1, 1)})
	<-changed
}

func TestARingOfAnotherEpochHoldsNothingOfTheOneBefore(t *testing.T) {
	r := newRing(0)
	r.renew("before", 0)
	r.add([]encoded{{seq: 1, text: []byte("one")}, {seq: 2, text: []byte("two")}})
	_, changed, _ := r.after(2, 100, nil)
	r.renew("after", 1)
	select {
	case <-changed:
	default:
		t.Error("those who wait were not woken")
	}
	if r.of("before") || !r.of("after") {
		t.Error("the ring is not of the new epoch")
	}
	if events, _, held := r.after(0, 100, nil); held || len(events) != 0 {
		t.Errorf("it holds %d events of the epoch before", len(events))
	}
	r.add([]encoded{{seq: 2, text: []byte("new")}})
	if events, _, held := r.after(1, 100, nil); !held || len(events) != 1 || string(events[0].text) != "new" {
		t.Errorf("events %v, held %v", events, held)
	}
}
