package delivery

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"tillwatch/api"
)

// Log keeps the deliveries that changed last. It is safe for concurrent use. Create it
// with [NewLog].
type Log struct {
	most int

	mu      sync.Mutex // guards all below
	byID    map[api.ID]*list.Element
	inOrder list.List     // of entry, the latest change last
	version uint64        // number of changes
	changed chan struct{} // closed at the next change; nil while nobody waits
}

type entry struct {
	*Delivery
	version uint64
}

// NewLog returns a log that keeps at most the given number of deliveries.
func NewLog(most int) *Log { return &Log{most: most, byID: map[api.ID]*list.Element{}} }

// Put stores a delivery, in place of an earlier one with the same id.
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

// Find returns a delivery by its id; ok is false if the log does not have it.
func (l *Log) Find(id api.ID) (d *Delivery, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.byID[id]
	if !ok {
		return nil, false
	}
	return at.Value.(entry).Delivery, true
}

// Since returns the deliveries that changed after a version, the latest change last,
// and the present version, for the next call. Version 0 returns all.
func (l *Log) Since(version uint64) (changed []*Delivery, now uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l.inOrder.Back(); at != nil && at.Value.(entry).version > version; at = at.Prev() {
		changed = append(changed, at.Value.(entry).Delivery)
	}
	slices.Reverse(changed)
	return changed, l.version
}

// Wait returns nil once something has changed after a version, or the error of ctx.
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
