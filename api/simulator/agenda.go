package simulator

import (
	"container/heap"
	"context"
	"time"
)

// agenda is what will happen by itself, soonest first; what is due at the same
// time happens in the order in which it was planned.
type agenda struct {
	tasks   taskHeap
	planned uint64
	woken   chan struct{} // something became the soonest
}

type task struct {
	at    time.Time
	order uint64
	run   func(at time.Time)
}

func newAgenda() agenda { return agenda{woken: make(chan struct{}, 1)} }

func (a *agenda) len() int { return len(a.tasks) }

// plan makes run happen at the given time, which may be past.
func (a *agenda) plan(at time.Time, run func(at time.Time)) {
	a.planned++
	heap.Push(&a.tasks, task{at, a.planned, run})
	if a.tasks[0].order == a.planned {
		select {
		case a.woken <- struct{}{}:
		default:
		}
	}
}

// runDue runs at most limit tasks that are due at now and reports how long to
// wait for the next: 0 when there are more, negative when there is none.
func (a *agenda) runDue(now time.Time, limit int) time.Duration {
	for ; limit > 0 && len(a.tasks) > 0; limit-- {
		if wait := a.tasks[0].at.Sub(now); wait > 0 {
			return wait
		}
		due := heap.Pop(&a.tasks).(task)
		due.run(due.at)
	}
	if len(a.tasks) == 0 {
		return -1
	}
	return max(0, a.tasks[0].at.Sub(now))
}

// keepAgenda runs what is due until ctx ends.
func (s *Simulator) keepAgenda(ctx context.Context) {
	const batch = 256 // tasks that run before others get the lock
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		wait := s.runDue(batch)
		if wait == 0 {
			continue
		}
		if wait < 0 {
			wait = time.Hour
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.agenda.woken:
		}
	}
}

func (s *Simulator) runDue(batch int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agenda.runDue(time.Now(), batch)
}

type taskHeap []task

func (h taskHeap) Len() int { return len(h) }
func (h taskHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h taskHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *taskHeap) Push(x any)   { *h = append(*h, x.(task)) }
func (h *taskHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = task{}
	*h = (*h)[:last]
	return x
}
