package delivery

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"tillwatch/api"
)

// Log keeps the deliveries that changed last, and tells of changes. Its methods
// may be called from any goroutine.
type Log struct {
	most int

	mu      sync.Mutex // guards all below
	byID    map[api.ID]*list.Element
	inOrder list.List // of entry, that which changed last at the end
	version uint64
	changed chan struct{} // closed at the next change; nil while nobody waits
}

type entry struct {
	*Delivery
	version uint64
}

// NewLog makes a log that keeps at most so many deliveries.
func NewLog(most int) *Log { return &Log{most: most, byID: map[api.ID]*list.Element{}} }

// Put keeps a delivery as it is now, in place of what it was.
func (l *Log) Put(d Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	if at, ok := l.byID[d.ID]; ok {
		l.inOrder.Remove(at)
	}
	l.byID[d.ID] = l.inOrder.PushBack(entry{&d, l.version})
	if l.inOrder.Len() > l.most {
		delete(l.byID, l.inOrder.Remove(l.inOrder.Front()).(entry).ID)
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Find returns a delivery that is kept.
func (l *Log) Find(id api.ID) (*Delivery, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.byID[id]
	if !ok {
		return nil, false
	}
	return at.Value.(entry).Delivery, true
}

// Since returns the deliveries that changed after a version, that which changed
// last at the end, and the version to ask with the next time. 0 gives all.
func (l *Log) Since(version uint64) (changed []*Delivery, now uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l.inOrder.Back(); at != nil && at.Value.(entry).version > version; at = at.Prev() {
		changed = append(changed, at.Value.(entry).Delivery)
	}
	slices.Reverse(changed)
	return changed, l.version
}

// Wait returns once something has changed after a version, or with its error when
// ctx ends.
func (l *Log) Wait(ctx context.Context, version uint64) error {
	l.mu.Lock()
	if l.version > version {
		l.mu.Unlock()
		return nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
