package relay

import (
	"context"
	"time"
)

const (
	clockInterval = time.Second
	clockSlack    = 5 * time.Second
)

// watchClock signals woken when this process has not run for a while or the machine has slept: older connections
// may be dead without showing it.
func watchClock(ctx context.Context, woken chan<- struct{}) {
	ticker := time.NewTicker(clockInterval)
	defer ticker.Stop()
	before := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		if slept(now.Sub(before), now.Round(0).Sub(before.Round(0))) {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
		before = now
	}
}

// slept compares the time between two ticks on the monotonic clock, which stops while most machines sleep, and on
// the wall clock, which does not. A wall clock that was set back proves nothing.
func slept(monotonic, wall time.Duration) bool {
	return monotonic > clockInterval+clockSlack || wall > monotonic+clockSlack
}
