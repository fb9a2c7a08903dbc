package relay

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// bodyMemorySize bounds the memory, in bytes, of large bodies whose signature is not checked yet. There is as much
	// again for connections that have shown a valid signature or token: strangers do not hold those up.
	bodyMemorySize = 24 << 20

	// evictionTimeout bounds the wait for the memory of an evicted body, which takes at most one signature check.
	evictionTimeout = 500 * time.Millisecond
)

var errCrowded = errors.New("the body was dropped to make room for others")

// bodyMemory is memory for bodies whose signature is not checked yet, or that subscribers have still to take. When it is
// full, the body held for longest is evicted: slow strangers and subscribers, however many, keep nobody out for long.
type bodyMemory struct {
	mu      sync.Mutex
	free    int           // bytes
	leaving int           // bytes of evicted shares not yet returned
	shares  list.List     // of *bodyShare: those that can be evicted, the oldest first
	freed   chan struct{} // closed and replaced when memory is returned
}

func newBodyMemory(size int) *bodyMemory { return &bodyMemory{free: size, freed: make(chan struct{})} }

// bodyShare is one body's part of the memory. It begins empty.
type bodyShare struct {
	memory    *bodyMemory
	interrupt func() // ends the current read or write
	held      int    // bytes; changed under the lock of the memory, by its owner only

	// Under the lock of the memory:
	place   *list.Element // nil while it cannot be evicted
	evicted bool
}

// share returns an empty share; interrupt ends the read or write of its body.
func (m *bodyMemory) share(interrupt func()) *bodyShare {
	return &bodyShare{memory: m, interrupt: interrupt}
}

// grow adds size bytes to the share, or returns errCrowded if the share was evicted. It waits for those it evicts.
func (s *bodyShare) grow(ctx context.Context, size int) error {
	ctx, cancel := context.WithTimeout(ctx, evictionTimeout)
	defer cancel()
	for {
		freed, err := s.take(size)
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

// take adds size bytes to the share if they are free. Otherwise it evicts others, and returns a channel that is
// closed when memory is returned.
func (s *bodyShare) take(size int) (freed <-chan struct{}, err error) {
	m := s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	for !s.evicted && m.free+m.leaving < size && m.shares.Len() > 0 {
		m.shares.Front().Value.(*bodyShare).evict()
	}
	switch {
	case s.evicted:
		return nil, errCrowded
	case m.free < size:
		return m.freed, nil
	}
	if s.place == nil {
		s.place = m.shares.PushBack(s)
	}
	m.free -= size
	s.held += size
	return nil, nil
}

// evict interrupts the read or write of the body, so that it gives its memory back.
func (s *bodyShare) evict() {
	s.unlist()
	s.evicted = true
	s.memory.leaving += s.held
	s.interrupt()
}

// unlist removes the share from those that can be evicted.
func (s *bodyShare) unlist() {
	if s.place != nil {
		s.memory.shares.Remove(s.place)
		s.place = nil
	}
}

// settle protects the share from eviction once its body is complete. It returns errCrowded if that is too late.
func (s *bodyShare) settle() error {
	if s.held == 0 {
		return nil
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.evicted {
		return errCrowded
	}
	s.unlist()
	return nil
}

// leave returns the memory.
func (s *bodyShare) leave() {
	if s.held == 0 {
		return
	}
	m := s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	s.unlist()
	if s.evicted {
		m.leaving -= s.held
	}
	m.free += s.held
	s.held = 0
	close(m.freed)
	m.freed = make(chan struct{})
}
