package simulator

import (
	"context"
	"time"
)

// agenda holds the tasks that run by themselves, and the clock that says when.
type agenda struct {
	clock
	schedule[func(at time.Time)]
	bell // rings when another task became the soonest, or the clock changed
}

func newAgenda(c clock) agenda { return agenda{clock: c, bell: make(bell, 1)} }

// plan schedules run for the given time, which may be past.
func (a *agenda) plan(at time.Time, run func(at time.Time)) {
	if a.schedule.plan(at, run) {
		a.wake()
	}
}

// bell wakes the goroutine that waits for it, and remembers one ring.
type bell chan struct{}

func (b bell) wake() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// runDue runs at most limit due tasks and returns how long to wait for the next one: 0
// if more are due, negative if there is none or the clock is stopped.
func (a *agenda) runDue(limit int) time.Duration {
	now := a.now()
	for ; limit > 0 && a.len() > 0; limit-- {
		if a.next().at.After(now) {
			break
		}
		task := a.pop()
		task.what(task.at)
	}
	if a.len() == 0 || !a.stopped.IsZero() && a.next().at.After(now) {
		return -1
	}
	return max(0, a.next().at.Sub(now))
}

// keepAgenda runs tasks as they become due until ctx ends.
func (s *Simulator) keepAgenda(ctx context.Context) {
	const batch = 256 // tasks in one hold of the lock
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
		case <-s.agenda.bell:
		}
	}
}

func (s *Simulator) runDue(batch int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agenda.runDue(batch)
}
