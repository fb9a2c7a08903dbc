package quota

import (
	"slices"
	"time"
)

// Bounds that the pacer uses.
const (
	longestPause     = 10 * time.Minute // a person is not made to wait for longer windows
	defaultReserve   = 2                // requests of a bucket
	longWindow       = time.Minute      // requests that nobody asked for are spread over windows from this on
	perSecondWindow  = 10 * time.Second // windows up to this count as the contract's per-second buckets
	othersRemembered = 3 * time.Second  // how long others count as spending after they were last seen
	mostKept         = 10_000           // requests remembered
	slack            = time.Millisecond // for clocks that count milliseconds
)

// spending is the requests of one kind that may still occupy a window.
type spending struct {
	inFlight int
	last     time.Time   // when one was last permitted
	ended    []time.Time // oldest first
}

func (s *spending) begin(now time.Time) {
	s.inFlight++
	s.last = now
}

func (s *spending) end(now time.Time) {
	s.inFlight--
	old, _ := slices.BinarySearchFunc(s.ended, now.Add(-longestPause-time.Minute), time.Time.Compare)
	old = max(old, len(s.ended)-mostKept)
	s.ended = append(s.ended[max(old, 0):], now)
}

// withdraw undoes begin: the request was never sent.
func (s *spending) withdraw() { s.inFlight-- }

// room returns when fewer than limit requests occupy a window, possibly in the past; never if that depends on a
// request's end.
func (s *spending) room(limit int64, window time.Duration) (at time.Time, never bool) {
	free := limit - int64(s.inFlight)
	if free <= 0 {
		return time.Time{}, true
	}
	if free > int64(len(s.ended)) {
		return time.Time{}, false
	}
	return s.ended[int64(len(s.ended))-free].Add(window + slack), false
}

// since returns how many requests may have reached the service after a moment.
func (s *spending) since(moment time.Time) int64 {
	i, _ := slices.BinarySearchFunc(s.ended, moment, time.Time.Compare)
	return int64(s.inFlight + len(s.ended) - i)
}
