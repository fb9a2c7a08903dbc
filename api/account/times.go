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

// measured returns a time by the clock on the wall, such as an earlier process's, as one by the clock that nobody
// sets: it keeps its distance from now.
func measured(saved, now time.Time) time.Time {
	if saved = plausible(saved); saved.IsZero() {
		return saved
	}
	return now.Add(saved.Sub(now))
}

// Estimate is when something is estimated to come, where somebody is. Exactly midnight in UTC names a day, which is
// the same everywhere, and begins there.
func Estimate(at time.Time, where *time.Location) time.Time {
	if year, month, date := at.UTC().Date(); !at.IsZero() && at.Equal(at.Truncate(24*time.Hour)) {
		return Midnight(time.Date(year, month, date, 12, 0, 0, 0, where), 0)
	}
	return at.In(where)
}

// Midnight is the first moment of a day of now's location, so many days from now. Where the clock is put forward at
// midnight, that is one o'clock, and [time.Date] may answer with the evening before.
func Midnight(now time.Time, days int) time.Time {
	year, month, date := now.Date()
	begin := time.Date(year, month, date+days, 0, 0, 0, 0, now.Location())
	if begin.Hour() == 23 {
		_, begin = begin.ZoneBounds()
	}
	return begin
}
