package account

import (
	"time"

	"tillwatch/api/quota"
)

// DayCount is how many intents of the day's are used: from below by what is
// known, and as the service told where it did.
type DayCount struct {
	Seen      int           // known to be created within the last 24 hours; there may be more
	Limit     int           // as the service told, else as configured
	Told      bool          // the service has told, and the window that it told of lasts
	Left      int           // when Told: what it said was left, at At
	At        time.Time     // when Told
	Resets    time.Time     // when Told: the end of the window
	Exhausted time.Duration // forecast: time until none is left at the pace of the last hour, 1 ns when so now; 0 when not in sight
	since     int           // known to be created after At
}

// Used is how many of the limit are used, at least.
func (d DayCount) Used() int {
	if d.Told {
		return d.Limit - d.Left + d.since
	}
	return d.Seen
}

// The day's bucket is told with answers to mutations. Its name and the length of
// its window are not shown in the contract.
const shortestDay = 12 * time.Hour

func (s *Store) dayCount(buckets []quota.Bucket, now time.Time) DayCount {
	d := DayCount{Seen: s.day.count(now), Limit: s.cfg.DayLimit}
	for _, b := range buckets {
		if b.Class != quota.Mutations || b.Window < shortestDay || b.Limit <= 0 {
			continue
		}
		d.Limit = int(b.Limit)
		if resets := b.ObservedAt.Add(b.Reset); !b.Unreported && now.Before(resets) {
			d.Told, d.Left, d.At, d.Resets = true, int(b.Remaining), b.ObservedAt, resets
			d.since = s.day.after(d.At)
		}
		break
	}
	d.Exhausted = s.dayForecast(d, now)
	return d
}

// dayForecast is when the day's intents are used up, if that is before the day
// is over.
func (s *Store) dayForecast(d DayCount, now time.Time) time.Duration {
	left, pace := d.Limit-d.Used(), s.day.after(now.Add(-time.Hour))
	if left <= 0 {
		return 1
	}
	if pace == 0 {
		return 0
	}
	forecast := time.Duration(float64(left) / float64(pace) * float64(time.Hour))
	ends := now.Add(24 * time.Hour)
	if d.Told {
		ends = d.Resets
	}
	if !now.Add(forecast).Before(ends) {
		return 0
	}
	return forecast
}

// dayCounter counts moments of the last 24 hours, to the minute and from below.
type dayCounter struct {
	minutes map[minute]*int
	last    minute // that was counted last: the next one mostly is the same
	inLast  *int   // nil for none
	cut     minute // up to which nothing counts any more
	total   int
}

func (d *dayCounter) add(m minute)    { d.change(m, 1) }
func (d *dayCounter) remove(m minute) { d.change(m, -1) }

func (d *dayCounter) change(m minute, by int) {
	if m <= d.cut {
		return
	}
	if d.inLast == nil || d.last != m {
		d.last, d.inLast = m, d.of(m)
	}
	*d.inLast += by
	d.total += by
}

// of is the count of a minute.
func (d *dayCounter) of(m minute) *int {
	if d.minutes == nil {
		d.minutes = map[minute]*int{}
	}
	count := d.minutes[m]
	if count == nil {
		count = new(int)
		d.minutes[m] = count
	}
	return count
}

// count forgets what is older than a day and counts the rest.
func (d *dayCounter) count(now time.Time) int {
	if cut := minuteOf(instantOf(now.Add(-24 * time.Hour))); cut > d.cut {
		for m, n := range d.minutes {
			if m <= cut {
				d.total -= *n
				delete(d.minutes, m)
			}
		}
		d.cut, d.inLast = cut, nil
	}
	return d.total
}

// after counts the minutes that began after t.
func (d *dayCounter) after(t time.Time) int {
	from, n := minuteOf(instantOf(t)), 0
	for m, count := range d.minutes {
		if m > from {
			n += *count
		}
	}
	return n
}
