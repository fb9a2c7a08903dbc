package account

import "time"

// instant is a moment in nanoseconds since 1970; 0 stands for none.
type instant int64

// farthest bounds what is taken for a moment: further away nothing fits.
const farthest = 200 * 365 * 24 * time.Hour

// instantOf is an instant that somebody else measured.
func instantOf(t time.Time) instant {
	seconds := t.Unix()
	if seconds < -farthestSeconds || seconds > farthestSeconds { // none, or one that does not fit
		return 0
	}
	return instant(seconds*int64(time.Second) + int64(t.Nanosecond()))
}

const farthestSeconds = int64(farthest / time.Second)

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i)).UTC()
}

// minute is a moment in minutes since 1970; 0 stands for none.
type minute uint32

func minuteOf(i instant) minute { return minute(max(0, i/instant(time.Minute))) }

func (m minute) instant() instant { return instant(m) * instant(time.Minute) }

// clock makes instants of moments and back. What this process measures itself
// keeps its order and its age when the wall clock is set meanwhile: it is counted
// from the start.
type clock struct {
	start time.Time // with its monotonic reading
	nano  int64
}

func newClock() clock {
	start := time.Now().UTC()
	return clock{start, start.UnixNano()}
}

func (c *clock) instant(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	d := t.Sub(c.start)
	if d > farthest || d < -farthest {
		return 0
	}
	return instant(c.nano + int64(d))
}

// measured is an instant that this process measured, as a moment that compares
// with others of it.
func (c *clock) measured(i instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return c.start.Add(time.Duration(int64(i) - c.nano))
}
