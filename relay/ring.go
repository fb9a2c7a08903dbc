package relay

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

// The bounds of a ring; the one reached first counts.
const (
	ringItems = 4096
	ringBytes = 8 << 20
)

// ring holds the newest events, encoded once for all connections. Each connection reads at its own cursor. Most
// have everything but the latest events, and find those ready to send in newest, without the lock.
type ring struct {
	mu     sync.RWMutex
	epoch  string    // of the journal
	items  []encoded // without gaps, up to head
	head   int64
	bytes  int
	newest atomic.Pointer[addition]
}

// addition is what was last added to a ring. It is immutable.
type addition struct {
	epoch  string
	head   int64
	frames []sharedFrame // up to head; none if the ring has just begun
	next   chan struct{} // closed when there is a newer one
}

// sharedFrame is a frame of all events above after, up to last, as written to every connection without a filter.
type sharedFrame struct {
	after, last int64
	message     *websocket.PreparedMessage
}

// following returns the frame that begins after cursor.
func (a *addition) following(cursor int64) (sharedFrame, bool) {
	for _, f := range a.frames {
		if f.after == cursor {
			return f, true
		}
	}
	return sharedFrame{}, false
}

// newRing returns a ring that begins after head.
func newRing(epoch string, head int64) *ring {
	r := &ring{epoch: epoch, head: head}
	r.newest.Store(&addition{epoch: epoch, head: head, next: make(chan struct{})})
	return r
}

// add appends events that follow the head, in order, and drops the oldest.
func (r *ring) add(events []encoded) error {
	if len(events) == 0 {
		return nil
	}
	frames, err := framesOf(events)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range events {
		if event.seq != r.head+1 { // it must have no gaps
			r.items, r.bytes = nil, 0
		}
		r.items = append(r.items, event)
		r.bytes += len(event.text)
		r.head = event.seq
	}
	for len(r.items) > 1 && (len(r.items) > ringItems || r.bytes > ringBytes) {
		r.bytes -= len(r.items[0].text)
		r.items[0] = encoded{}
		r.items = r.items[1:]
	}
	r.announce(frames)
	return nil
}

// announce wakes the connections that wait for more.
func (r *ring) announce(frames []sharedFrame) {
	before := r.newest.Swap(&addition{epoch: r.epoch, head: r.head, frames: frames, next: make(chan struct{})})
	close(before.next)
}

// framesOf makes frames of consecutive events.
func framesOf(events []encoded) ([]sharedFrame, error) {
	var frames []sharedFrame
	var buffer bytes.Buffer
	for len(events) > 0 {
		taken, _ := frameOf(&buffer, events, nil)
		message, err := websocket.NewPreparedMessage(websocket.TextMessage, buffer.Bytes())
		if err != nil {
			return nil, fmt.Errorf("prepare a frame: %w", err)
		}
		frames = append(frames, sharedFrame{after: events[0].seq - 1, last: events[taken-1].seq, message: message})
		events = events[taken:]
	}
	return frames, nil
}

// renew empties the ring for a new epoch of the journal.
func (r *ring) renew(epoch string, head int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items, r.bytes = nil, 0
	r.epoch, r.head = epoch, head
	r.announce(nil)
}

// of reports whether the ring holds events of epoch.
func (r *ring) of(epoch string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.epoch == epoch
}

func (r *ring) oldest() int64 { return r.head - int64(len(r.items)) + 1 }

// after returns the events after cursor, at most limit bytes but at least one if there is one. held is false if
// the ring no longer has the next one.
func (r *ring) after(cursor int64, limit int) (events []encoded, held bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	oldest := r.oldest()
	if cursor+1 < oldest {
		return nil, false
	}
	size := 0
	for seq := cursor + 1; seq <= r.head && size < limit; seq++ {
		event := r.items[seq-oldest]
		events = append(events, event)
		size += len(event.text)
	}
	return events, true
}
