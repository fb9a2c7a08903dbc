package relay

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"

	"tillwatch/relay/journal"
)

func event(seq int64, size int) encoded {
	return encoded{seq: seq, kind: "a", text: make([]byte, size)}
}

func add(t *testing.T, r *ring, events ...encoded) {
	t.Helper()
	if err := r.add(events); err != nil {
		t.Fatal(err)
	}
}

// expectRing reads the ring from cursor and checks that it gives what follows.
func expectRing(t *testing.T, r *ring, cursor int64) {
	t.Helper()
	events, held := r.after(cursor, 1<<30)
	if want := cursor+1 >= r.oldest(); held != want {
		t.Fatalf("after %d with oldest %d: held %v", cursor, r.oldest(), held)
	}
	if !held {
		return
	}
	for i, e := range events {
		if e.seq != cursor+1+int64(i) {
			t.Fatalf("after %d: event %d at place %d", cursor, e.seq, i)
		}
	}
	if last := max(cursor, r.head); cursor+int64(len(events)) != last {
		t.Fatalf("after %d: %d events, head %d", cursor, len(events), r.head)
	}
}

func TestARingHoldsTheNewestWithinItsBounds(t *testing.T) {
	r := newRing("epoch", 10)
	if r.oldest() != 11 || r.head != 10 {
		t.Fatalf("a new ring holds %d to %d", r.oldest(), r.head)
	}
	for r.head < 3*ringItems {
		largest := 500 // the ring is full of events
		if r.head > 2*ringItems {
			largest = 8000 // it is full of bytes
		}
		var batch []encoded
		for seq := r.head + 1; len(batch) < 1+rand.IntN(tailBatch); seq++ {
			batch = append(batch, event(seq, rand.IntN(largest)))
		}
		add(t, r, batch...)
		held, bytes := r.head-r.oldest()+1, 0
		for _, item := range r.items {
			bytes += len(item.text)
		}
		if held > ringItems || bytes > ringBytes || bytes != r.bytes {
			t.Fatalf("the ring holds %d events of %d bytes and counts %d", held, bytes, r.bytes)
		}
		for range 5 {
			expectRing(t, r, r.oldest()-3+rand.Int64N(held+6))
		}
	}
}

func TestARingTakesAnEventLargerThanItself(t *testing.T) {
	r := newRing("epoch", 0)
	add(t, r, event(1, 10), event(2, ringBytes+1), event(3, 10))
	if r.oldest() != 3 || r.head != 3 {
		t.Errorf("the ring holds %d to %d", r.oldest(), r.head)
	}
}

func TestARingHoldsNoHole(t *testing.T) {
	r := newRing("epoch", 0)
	add(t, r, event(1, 10), event(2, 10), event(7, 10))
	for cursor := range int64(6) {
		if _, held := r.after(cursor, 1<<20); held {
			t.Errorf("the ring claims to hold what follows %d", cursor)
		}
	}
	expectRing(t, r, 6)
}

func TestAReadOfARingIsBoundedButMoves(t *testing.T) {
	r := newRing("epoch", 0)
	add(t, r, event(1, 100), event(2, 100), event(3, 100))
	for limit, want := range map[int]int{1: 1, 100: 1, 101: 2, 1000: 3} {
		if events, _ := r.after(0, limit); len(events) != want {
			t.Errorf("limit %d: %d events, want %d", limit, len(events), want)
		}
	}
}

func TestARingSaysThatItHasMore(t *testing.T) {
	r := newRing("epoch", 0)
	changed := r.newest.Load().next
	select {
	case <-changed:
		t.Fatal("an empty ring says that it has more")
	default:
	}
	add(t, r, event(1, 1))
	<-changed
}

func TestARingOfAnotherEpochHoldsNothingOfTheOneBefore(t *testing.T) {
	r := newRing("before", 0)
	add(t, r, encoded{seq: 1, text: []byte("one")}, encoded{seq: 2, text: []byte("two")})
	changed := r.newest.Load().next
	r.renew("after", 1)
	select {
	case <-changed:
	default:
		t.Error("those who wait were not woken")
	}
	if r.of("before") || !r.of("after") {
		t.Error("the ring is not of the new epoch")
	}
	if events, held := r.after(0, 100); held || len(events) != 0 {
		t.Errorf("it holds %d events of the epoch before", len(events))
	}
	add(t, r, encoded{seq: 2, text: []byte("new")})
	if events, held := r.after(1, 100); !held || len(events) != 1 || string(events[0].text) != "new" {
		t.Errorf("events %v, held %v", events, held)
	}
}

func TestAFrameIsNeverLargerThanItsBound(t *testing.T) {
	around := len(eventsPrefix) + len(",") + len(eventsSuffix)
	for name, c := range map[string]struct{ second, events, size int }{
		"full to the last byte": {second: frameBytes - around - 1000, events: 2, size: frameBytes},
		"one byte too many":     {second: frameBytes - around - 999, events: 1, size: around - len(",") + 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var frame bytes.Buffer
			pair := []encoded{{seq: 1, text: make([]byte, 1000)}, {seq: 2, text: make([]byte, c.second)}}
			events, _ := frameOf(&frame, pair, nil)
			if events != c.events || frame.Len() != c.size {
				t.Errorf("%d events in a frame of %d bytes, want %d in %d", events, frame.Len(), c.events, c.size)
			}
		})
	}
}

func TestARingHasWhatCameLastReadyToSend(t *testing.T) {
	const events = 300
	r := newRing("epoch", 10)
	var batch []encoded
	for seq := int64(11); seq <= 10+events; seq++ {
		e, err := encode(journal.Record{Seq: seq, Entry: journal.Entry{ID: "a", Body: make([]byte, rand.IntN(3000))}})
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, e)
	}
	add(t, r, batch...)
	newest := r.newest.Load()
	n := serveRaw(t, func(socket *websocket.Conn) {
		for cursor := int64(10); cursor < newest.head; {
			shared, is := newest.following(cursor)
			if !is || shared.last <= cursor {
				t.Errorf("no frame follows %d", cursor)
				return
			}
			if err := socket.WritePreparedMessage(shared.message); err != nil {
				t.Error(err)
			}
			cursor = shared.last
		}
	})
	socket, _, err := (&websocket.Dialer{NetDialContext: n.dial}).Dial("ws://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for seq := int64(11); seq <= 10+events; {
		_, text, err := socket.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > frameBytes {
			t.Errorf("a frame of %d bytes", len(text))
		}
		f, err := readFrame(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range f.Items {
			if item.Seq != seq {
				t.Fatalf("event %d came where %d was due", item.Seq, seq)
			}
			seq++
		}
	}
	if _, is := newest.following(12); is {
		t.Error("a frame follows what is not the end of one")
	}
}

// serveRaw upgrades every request and leaves the connection to script.
func serveRaw(t *testing.T, script func(*websocket.Conn)) *network {
	n, _ := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		socket, err := newUpgrader().Upgrade(w, req, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		script(socket)
	}))
	return n
}
