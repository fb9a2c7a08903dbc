package account

import "time"

// dayCounter counts moments of the last 24 hours, to the minute and from below.
type dayCounter struct {
	minutes map[int64]int
	cut     int64 // the minute up to which nothing counts any more
	total   int
}

func (d *dayCounter) add(t time.Time)    { d.change(t, 1) }
func (d *dayCounter) remove(t time.Time) { d.change(t, -1) }

func (d *dayCounter) change(t time.Time, by int) {
	minute := t.Unix() / 60
	if minute <= d.cut {
		return
	}
	if d.minutes == nil {
		d.minutes = map[int64]int{}
	}
	d.minutes[minute] += by
	d.total += by
}

// count forgets what is older than a day and counts the rest.
func (d *dayCounter) count(now time.Time) int {
	cut := now.Add(-24*time.Hour).Unix() / 60
	if cut > d.cut {
		for minute, n := range d.minutes {
			if minute <= cut {
				d.total -= n
				delete(d.minutes, minute)
			}
		}
		d.cut = cut
	}
	return d.total
}
