package relay

import (
	"sync"
	"time"
)

const rejectionInterval = time.Second

// rejections keeps strangers from flooding the log: one line an interval, with
// the number of those that it stands for.
type rejections struct {
	mu         sync.Mutex
	last       time.Time
	suppressed int
}

// admit reports whether a rejection at now is logged, and how many were not
// since the last one that was.
func (r *rejections) admit(now time.Time) (suppressed int, log bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.last) < rejectionInterval {
		r.suppressed++
		return 0, false
	}
	suppressed, r.suppressed, r.last = r.suppressed, 0, now
	return suppressed, true
}
