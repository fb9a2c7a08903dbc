package simulator

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"time"
)

// longestMove bounds one move of the clock: everything due on the way happens before the answer.
const longestMove = 31 * day

// agenda is the service's own time, which its resources follow, and the tasks that run by themselves. The clock runs
// like the machine's and can be moved ahead; it never goes back. What clients and receivers wait for takes real time:
// the windows of a second, deliveries and their pauses, delays by faults. The simulator's lock guards it.
type agenda struct {
	ahead time.Duration // of the machine's clock
	schedule[func(at time.Time)]
	bell // rings when another task became the soonest, or the clock was moved
}

// newAgenda returns an agenda whose clock shows the time at; the zero time means the machine's.
func newAgenda(at time.Time) agenda {
	a := agenda{bell: make(bell, 1)}
	if !at.IsZero() {
		a.ahead = time.Until(at)
	}
	return a
}

func (a *agenda) now() time.Time { return time.Now().Add(a.ahead) }

// plan schedules run for the given time, which may be past.
func (a *agenda) plan(at time.Time, run func(at time.Time)) {
	if a.schedule.plan(at, run) {
		a.wake()
	}
}

// runDue runs at most limit due tasks and returns how long to wait for the next one: 0 if more are due.
func (a *agenda) runDue(limit int) time.Duration {
	now := a.now()
	for ; limit > 0 && a.len() > 0 && !a.next().at.After(now); limit-- {
		task := a.pop()
		task.what(task.at)
	}
	if a.len() == 0 {
		return time.Hour
	}
	return max(0, a.next().at.Sub(now))
}

// keepAgenda runs tasks as they become due until ctx ends.
func (s *Simulator) keepAgenda(ctx context.Context) {
	const batch = 256 // tasks in one hold of the lock
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		s.mu.Lock()
		wait := s.agenda.runDue(batch)
		s.mu.Unlock()
		if wait == 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.agenda.bell:
		}
	}
}

// moveClock moves the clock, and runs everything due on the way before it answers.
func (c controlAPI) moveClock(r *request) answer {
	var o struct {
		Forward float64   `json:"forward"` // seconds
		To      time.Time `json:"to"`
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	agenda := &c.sim.agenda
	by := seconds(o.Forward)
	if !o.To.IsZero() {
		by = o.To.Sub(agenda.now())
	}
	switch {
	case o.Forward != 0 && !o.To.IsZero():
		return invalidField("body", "forward and to exclude each other")
	case !(o.Forward >= 0 && o.Forward <= longestMove.Seconds()):
		return invalidField("body.forward",
			fmt.Sprintf("must be from 0 to %d seconds, %d days", longestMove/time.Second, longestMove/day))
	case by < 0 || by > longestMove:
		return invalidField("body.to", fmt.Sprintf("must be from now, %s, to %d days ahead: the clock never goes back",
			stamp(agenda.now()), longestMove/day))
	}
	agenda.ahead += by
	for agenda.runDue(1<<10) == 0 && r.Context().Err() == nil { // without the caller, the agenda does the rest
	}
	agenda.wake()
	return ok(map[string]string{"now": stamp(agenda.now())})
}

// bell wakes a goroutine that waits for it, and remembers one ring.
type bell chan struct{}

func (b bell) wake() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// schedule is a queue by time. Items due at the same time come in the order in which they were planned.
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

// vary returns a random duration around t at speed 1.
func (c *Config) vary(d dice, t time.Duration) time.Duration {
	factor := 1.0
	if spread := c.Timings.Spread; spread > 0 {
		factor = min(max(math.Exp(d.NormFloat64()*spread), 0.4), 2.5)
	}
	return c.scaled(time.Duration(float64(t) * factor))
}

// took returns the duration of a step: the fated one, or if that is 0 about the configured one.
func (c *Config) took(d dice, fated, about time.Duration) time.Duration {
	if fated > 0 {
		return c.scaled(fated)
	}
	return c.vary(d, about)
}

func (c *Config) window() time.Duration { return c.scaled(c.Timings.ConfirmWindow) }

// scaled returns the duration t at the configured speed.
func (c *Config) scaled(t time.Duration) time.Duration { return span(float64(t) / c.Speed) }

// span returns a duration of ns nanoseconds, at most the longest one.
func span(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
