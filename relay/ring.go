package relay

import "sync"

// The bounds of a ring: whichever is reached first.
const (
	ringItems = 4096
	ringBytes = 8 << 20
)

// ring holds the newest events, encoded once for all connections. Connections
// read from it at cursors of their own.
type ring struct {
	mu      sync.RWMutex
	epoch   string    // of the journal
	items   []encoded // item seq is at (seq-1) % ringItems
	oldest  int64     // oldest <= head+1
	head    int64
	bytes   int
	changed chan struct{} // closed when head moves
}

// newRing makes a ring that begins behind head.
func newRing(head int64) *ring {
	return &ring{items: make([]encoded, ringItems), oldest: head + 1, head: head, changed: make(chan struct{})}
}

// add appends events that follow the head, in order, and lets go of the oldest.
func (r *ring) add(events []encoded) {
	if len(events) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range events {
		if event.seq != r.head+1 {
			r.restart(event.seq)
		}
		for r.oldest <= r.head && (r.head-r.oldest+1 >= ringItems || r.bytes+len(event.text) > ringBytes) {
			r.drop()
		}
		*r.slot(event.seq) = event
		r.bytes += len(event.text)
		r.head = event.seq
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// renew empties the ring for a journal that has got another epoch.
func (r *ring) renew(epoch string, head int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.restart(head + 1)
	r.epoch = epoch
	close(r.changed)
	r.changed = make(chan struct{})
}

// of reports whether the ring holds events of epoch.
func (r *ring) of(epoch string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.epoch == epoch
}

// restart empties the ring so that next follows: it holds no holes.
func (r *ring) restart(next int64) {
	for r.oldest <= r.head {
		r.drop()
	}
	r.oldest, r.head = next, next-1
}

func (r *ring) drop() {
	slot := r.slot(r.oldest)
	r.bytes -= len(slot.text)
	*slot = encoded{}
	r.oldest++
}

func (r *ring) slot(seq int64) *encoded { return &r.items[(seq-1)%ringItems] }

// after appends to into the events that follow cursor, as long as they stay
// within limit bytes, but at least one where there is one. It returns false when
// the ring no longer has the next one. With no events, changed is closed when
// there is more.
func (r *ring) after(cursor int64, limit int, into []encoded) (events []encoded, changed <-chan struct{}, held bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if cursor+1 < r.oldest {
		return into, nil, false
	}
	size := 0
	for seq := cursor + 1; seq <= r.head && size < limit; seq++ {
		event := *r.slot(seq)
		into = append(into, event)
		size += len(event.text)
	}
	return into, r.changed, true
}
