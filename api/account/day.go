package account

import (
	"slices"
	"time"
)

// dayCounter counts moments of the last 24 hours.
type dayCounter struct{ moments []time.Time } // in order

func (d *dayCounter) add(t time.Time) {
	i, _ := slices.BinarySearchFunc(d.moments, t, time.Time.Compare)
	d.moments = slices.Insert(d.moments, i, t)
}

func (d *dayCounter) remove(t time.Time) {
	if i, found := slices.BinarySearchFunc(d.moments, t, time.Time.Compare); found {
		d.moments = slices.Delete(d.moments, i, i+1)
	}
}

// count forgets what is older than a day and counts the rest.
func (d *dayCounter) count(now time.Time) int {
	cut := now.Add(-24 * time.Hour)
	i, _ := slices.BinarySearchFunc(d.moments, cut, time.Time.Compare)
	if i > 0 {
		d.moments = append(d.moments[:0], d.moments[i:]...)
	}
	return len(d.moments)
}
