package account

import "time"

// farthest bounds plausible times: what is further from now is a mistake, and not every format can hold it.
const farthest = 200 * 365 * 24 * time.Hour

// plausible returns a time that somebody else measured; zero if it cannot be true.
func plausible(t time.Time) time.Time {
	if seconds := t.Unix(); seconds < -int64(farthest/time.Second) || seconds > int64(farthest/time.Second) {
		return time.Time{}
	}
	return t.UTC()
}

// utc returns a time in UTC without its monotonic reading, as it leaves the process.
func utc(t time.Time) time.Time { return t.Round(0).UTC() }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// measured gives a wall-clock time, such as one that an earlier process saved, a monotonic reading: the time keeps its
// distance from now even if the clock is set.
func measured(saved, now time.Time) time.Time {
	if saved = plausible(saved); saved.IsZero() {
		return saved
	}
	return now.Add(saved.Sub(now))
}

// Estimate returns an estimated time in a location. Exactly midnight UTC stands for a whole day, the same date
// everywhere: then it is the first moment of that date in the location.
func Estimate(at time.Time, where *time.Location) time.Time {
	if year, month, date := at.UTC().Date(); !at.IsZero() && at.Equal(at.Truncate(24*time.Hour)) {
		return Midnight(time.Date(year, month, date, 12, 0, 0, 0, where), 0)
	}
	return at.In(where)
}

// Midnight returns the first moment of the day that lies so many days after now, in now's location. Where the clock
// goes forward at midnight, the day begins at one o'clock, and [time.Date] may return the evening before.
func Midnight(now time.Time, days int) time.Time {
	year, month, date := now.Date()
	begin := time.Date(year, month, date+days, 0, 0, 0, 0, now.Location())
	if begin.Hour() == 23 {
		_, begin = begin.ZoneBounds()
	}
	return begin
}
