package simulator

import (
	"container/heap"
	"time"
)

// schedule is a queue by time. Items due at the same time come in the order in which
// they were planned.
type schedule[T any] struct {
	heap    dueHeap[T]
	planned uint64
}

type due[T any] struct {
	at    time.Time
	order uint64
	what  T
}

func (s *schedule[T]) len() int { return len(s.heap) }

// plan adds an item and reports whether it is the soonest now.
func (s *schedule[T]) plan(at time.Time, what T) (soonest bool) {
	s.planned++
	heap.Push(&s.heap, due[T]{at, s.planned, what})
	return s.heap[0].order == s.planned
}

// hurry makes the matching items due at the given time, unless they are due earlier.
func (s *schedule[T]) hurry(at time.Time, match func(T) bool) {
	for i := range s.heap {
		if match(s.heap[i].what) && at.Before(s.heap[i].at) {
			s.heap[i].at = at
		}
	}
	heap.Init(&s.heap)
}

// next returns the soonest item; there must be one.
func (s *schedule[T]) next() due[T] { return s.heap[0] }

// pop removes and returns the soonest item; there must be one.
func (s *schedule[T]) pop() due[T] { return heap.Pop(&s.heap).(due[T]) }

type dueHeap[T any] []due[T]

func (h dueHeap[T]) Len() int { return len(h) }
func (h dueHeap[T]) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h dueHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap[T]) Push(x any)   { *h = append(*h, x.(due[T])) }
func (h *dueHeap[T]) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = due[T]{}
	*h = (*h)[:last]
	return x
}
