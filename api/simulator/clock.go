package simulator

import (
	"fmt"
	"time"
)

// longestMove bounds one move of the clock: everything due on the way happens before
// the answer.
const longestMove = 31 * day

// clock is the service's own time, which its resources and its agenda follow. It runs
// like the machine's until it is stopped or moved ahead; it never goes back. What
// clients and receivers wait for takes real time: the windows of a second, deliveries
// and their pauses, delays by faults. The simulator's lock guards it.
type clock struct {
	ahead   time.Duration // of the machine's clock
	stopped time.Time     // zero: it runs
}

// startClock returns a clock that shows the time at; the zero time means the machine's.
func startClock(at time.Time, stopped bool) (c clock) {
	if !at.IsZero() {
		c.ahead = time.Until(at)
	}
	if stopped {
		c.stop()
	}
	return c
}

func (c *clock) now() time.Time {
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return c.seconds()
}

// seconds returns the time for the windows of a second, which runs on while the clock
// is stopped.
func (c *clock) seconds() time.Time { return time.Now().Add(c.ahead) }

// stop stops the clock at a whole millisecond, which the control API can express.
func (c *clock) stop() { c.stopped = c.now().Truncate(time.Millisecond) }

func (c *clock) start() {
	if !c.stopped.IsZero() {
		c.ahead, c.stopped = time.Until(c.stopped), time.Time{}
	}
}

func (c *clock) move(by time.Duration) {
	c.ahead += by
	if !c.stopped.IsZero() {
		c.stopped = c.stopped.Add(by)
	}
}

// clockWire is the clock in the control API.
type clockWire struct {
	Now     string `json:"now"`
	Stopped bool   `json:"stopped"`
}

func (c *clock) wire() clockWire { return clockWire{stamp(c.now()), !c.stopped.IsZero()} }

// clockChange is a change of the clock. Zero fields change nothing.
type clockChange struct {
	Stopped *bool     `json:"stopped"`
	Forward float64   `json:"forward"` // seconds
	To      time.Time `json:"to"`
}

// setClock stops, starts or moves the clock, and runs everything due on the way before
// it answers.
func (c controlAPI) setClock(r *request, o clockChange) answer {
	agenda := &c.sim.agenda
	by := seconds(o.Forward)
	if !o.To.IsZero() {
		by = o.To.Sub(agenda.now())
	}
	switch {
	case o.Forward != 0 && !o.To.IsZero():
		return invalidField("body", "forward and to exclude each other")
	case !(o.Forward >= 0 && o.Forward <= longestMove.Seconds()):
		return invalidField("body.forward", fmt.Sprintf("must be from 0 to %d seconds, %d days", longestMove/time.Second, longestMove/day))
	case by < 0 || by > longestMove:
		return invalidField("body.to", fmt.Sprintf("must be from now, %s, to %d days ahead: the clock never goes back", stamp(agenda.now()), longestMove/day))
	}
	if o.Stopped != nil && *o.Stopped {
		agenda.stop()
	}
	agenda.move(by)
	for agenda.runDue(1<<10) == 0 && r.Context().Err() == nil { // without the caller, the agenda does the rest
	}
	if o.Stopped != nil && !*o.Stopped {
		agenda.start()
	}
	agenda.wake()
	return ok(agenda.wire())
}

func (c controlAPI) readClock(*request) answer { return ok(c.sim.agenda.wire()) }
