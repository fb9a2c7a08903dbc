package quota

import "time"

// Bucket is what is known of one bucket. A bucket is identified by its endpoint
// class, policy name, limit and window together: names alone do not identify.
type Bucket struct {
	Class      Class
	Policy     string // the policy's name, scrubbed
	Limit      int64  // q: requests a window
	Window     time.Duration
	Remaining  int64         // r as last reported
	Reset      time.Duration // t as last reported, from ObservedAt
	ObservedAt time.Time     // when the last report was received
	Own        float64       // requests a second of this client, last minute
	Others     float64       // requests a second of everyone else on the account, inferred, last minute
	Rejected   int64         // 429s seen
	Exhausted  time.Duration // forecast: time until nothing is left; 0 when not in sight
	History    []Sample      // the last minute, oldest first, one a second
}

// Sample is one second of a bucket.
type Sample struct {
	At        time.Time // start of the second
	Known     bool      // whether a report fell into this second
	Remaining int64     // the least remaining quota reported
	Own       int       // requests of this client
	Others    int       // requests of others, inferred
}

// Left is the remaining quota to be assumed at now: what was last reported, or
// the whole limit once the window has passed.
func (b Bucket) Left(now time.Time) int64 {
	if b.Reset > 0 && now.Sub(b.ObservedAt) >= b.Reset {
		return b.Limit
	}
	return b.Remaining
}
