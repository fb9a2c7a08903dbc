package relay

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// roomSize bounds the memory, in bytes, that large bodies take before their
	// signature is checked. There is as much again for connections over which a
	// valid signature or token has come: strangers do not hold those up.
	roomSize = 24 << 20

	// roomTimeout bounds the wait until somebody who makes room has left. That
	// takes no longer than it takes to check a signature.
	roomTimeout = 500 * time.Millisecond
)

var errCrowded = errors.New("the body was dropped to make room for others")

// room is memory for bodies whose signature is not checked yet. While it is
// full, whoever has been in it longest makes room: strangers who dawdle, however
// many, take nobody's place for long.
type room struct {
	mu      sync.Mutex
	free    int           // bytes
	leaving int           // bytes of lodgers who make room and have not left yet
	lodgers list.List     // of *lodger who can be shown out, in the order of their coming
	freed   chan struct{} // closed and replaced when somebody leaves
}

func newRoom(size int) *room { return &room{free: size, freed: make(chan struct{})} }

// lodger is a body with a part of a room. It has none before it grows.
type lodger struct {
	room      *room
	interrupt func() // ends the read that is under way
	held      int    // bytes; changed under the lock of the room, by its owner only

	// Under the lock of the room:
	place    *list.Element // nil while it cannot be shown out
	shownOut bool
}

// lodger returns a lodger who has no room yet.
func (r *room) lodger(interrupt func()) *lodger { return &lodger{room: r, interrupt: interrupt} }

// grow gives the lodger size more bytes, or errCrowded when it has made room
// itself. It waits for others who do.
func (l *lodger) grow(ctx context.Context, size int) error {
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	for {
		freed, err := l.take(size)
		if freed == nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return errCrowded
		}
	}
}

// take gives the lodger size more bytes where they are free. Otherwise it asks
// others to make room and returns what is closed when somebody has left.
func (l *lodger) take(size int) (freed <-chan struct{}, err error) {
	r := l.room
	r.mu.Lock()
	defer r.mu.Unlock()
	for !l.shownOut && r.free+r.leaving < size && r.lodgers.Len() > 0 {
		r.lodgers.Front().Value.(*lodger).showOut()
	}
	switch {
	case l.shownOut:
		return nil, errCrowded
	case r.free < size:
		return r.freed, nil
	}
	if l.place == nil {
		l.place = r.lodgers.PushBack(l)
	}
	r.free -= size
	l.held += size
	return nil, nil
}

// showOut makes l leave as soon as it reads.
func (l *lodger) showOut() {
	l.unlist()
	l.shownOut = true
	l.room.leaving += l.held
	l.interrupt()
}

// unlist takes l off the list of those who can be shown out.
func (l *lodger) unlist() {
	if l.place != nil {
		l.room.lodgers.Remove(l.place)
		l.place = nil
	}
}

// settle keeps a lodger from being shown out: its body is whole. It returns
// errCrowded when that comes too late.
func (l *lodger) settle() error {
	if l.held == 0 {
		return nil
	}
	l.room.mu.Lock()
	defer l.room.mu.Unlock()
	if l.shownOut {
		return errCrowded
	}
	l.unlist()
	return nil
}

// leave gives back what the lodger holds.
func (l *lodger) leave() {
	if l.held == 0 {
		return
	}
	r := l.room
	r.mu.Lock()
	defer r.mu.Unlock()
	l.unlist()
	if l.shownOut {
		r.leaving -= l.held
	}
	r.free += l.held
	l.held = 0
	close(r.freed)
	r.freed = make(chan struct{})
}
