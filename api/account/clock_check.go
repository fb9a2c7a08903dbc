package account

import (
	"cmp"
	"time"

	"tillwatch/api"
)

const (
	clockOff     = 20 * time.Second // a clock that differs by this much is wrong; ages on the screen are no finer
	clockStep    = 5 * time.Second  // smaller changes of a wrong clock are not shown
	clockAnswers = 3                // so many must agree: a machine may sleep between a request and its answer
)

// clockCheck compares this machine's clock with the service's. Ages and confirm windows
// are counted from the service's times by this machine's clock.
type clockCheck struct {
	ahead time.Duration // of this machine's clock; negative: behind; 0 while it is right, as far as known
	wrong int           // answers in a row that differed
	first time.Duration // what the newest of them says, if none was ever right; else 0
	right bool          // an answer was right
}

// off is how far this machine's clock is ahead. Until an answer has been right, a single wrong one decides; after that
// it takes as many as for the alert.
func (c *clockCheck) off() time.Duration { return cmp.Or(c.ahead, c.first) }

// here returns a time of the service by this machine's clock.
func (c *clockCheck) here(t time.Time) time.Time { return t.Add(c.off()) }

// answered compares the Date of an answer.
func (c *clockCheck) answered(e *api.Exchange) {
	ahead, doubt, ok := e.ClockAhead()
	switch {
	case !ok || doubt >= clockOff:
		return
	case ahead.Abs()-doubt < clockOff:
		*c = clockCheck{right: true}
		return
	}
	if c.wrong++; !c.right {
		c.first = ahead.Round(time.Second)
	}
	if c.wrong >= clockAnswers && (ahead-c.ahead).Abs() >= clockStep {
		c.ahead = ahead.Round(time.Second)
	}
}

// words describes a wrong clock; "" for a right one.
func (c *clockCheck) words() string {
	if c.ahead == 0 {
		return ""
	}
	by, direction := api.Span(c.ahead.Abs()), "ahead of"
	if c.ahead < 0 {
		direction = "behind"
	}
	return "this machine's clock is " + by + " " + direction + " the service's: ages are off by as much"
}
