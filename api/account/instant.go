package account

import "time"

// instant is a moment in nanoseconds since 1970; 0 stands for none.
type instant int64

// instantOf converts a time that somebody else measured.
func instantOf(t time.Time) instant {
	if t = plausible(t); t.IsZero() {
		return 0
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i)).UTC()
}
