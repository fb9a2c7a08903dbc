package account

import "time"

// farthest bounds what is taken for a moment: what is further from now is a
// mistake, and not every form can hold it.
const farthest = 200 * 365 * 24 * time.Hour

// plausible is a moment that somebody else measured; zero where it cannot be one.
func plausible(t time.Time) time.Time {
	if seconds := t.Unix(); seconds < -int64(farthest/time.Second) || seconds > int64(farthest/time.Second) {
		return time.Time{}
	}
	return t.UTC()
}

// utc is a moment without its monotonic reading, as it leaves the process.
func utc(t time.Time) time.Time { return t.Round(0).UTC() }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlier is the earlier of two moments.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
