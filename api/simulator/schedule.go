package simulator

import (
	"container/heap"
	"time"
)

// schedule holds what is to happen, soonest first. What is due at the same time
// comes in the order in which it was planned.
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

// plan adds something and reports whether it is the soonest now.
func (s *schedule[T]) plan(at time.Time, what T) (soonest bool) {
	s.planned++
	heap.Push(&s.heap, due[T]{at, s.planned, what})
	return s.heap[0].order == s.planned
}

// hurry makes what matches due at the given time, unless it is due before.
func (s *schedule[T]) hurry(at time.Time, match func(T) bool) {
	for i := range s.heap {
		if match(s.heap[i].what) && at.Before(s.heap[i].at) {
			s.heap[i].at = at
		}
	}
	heap.Init(&s.heap)
}

// next is what is due soonest; there must be something.
func (s *schedule[T]) next() due[T] { return s.heap[0] }

// pop takes what is due soonest out; there must be something.
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
