package quota

import (
	"cmp"
	"encoding/json"
	"time"
)

// Bucket is what is known of one bucket. A bucket is identified by its endpoint
// class, policy name, limit and window together: names alone do not identify.
type Bucket struct {
	Class      Class         `json:"class"`
	Policy     string        `json:"policy,omitempty"`     // the policy's name, scrubbed
	Limit      int64         `json:"limit,omitempty"`      // q: requests a window; 0 when no policy was reported
	Window     time.Duration `json:"windowNs,omitzero"`    // w; 0 when not reported
	Remaining  int64         `json:"remaining"`            // r as last reported
	Reset      time.Duration `json:"resetNs,omitzero"`     // t as last reported, from ObservedAt
	ObservedAt time.Time     `json:"observedAt,omitzero"`  // when the last report was received
	Own        float64       `json:"own,omitempty"`        // requests a second of this client, last minute
	Others     float64       `json:"others,omitempty"`     // requests a second of everyone else on the account, last minute: inferred, a lower bound
	Rejected   int64         `json:"rejected,omitempty"`   // 429s seen
	Exhausted  time.Duration `json:"exhaustedNs,omitzero"` // forecast: time until nothing is left; 1 ns if nothing is left now, 0 if it will not happen within the window
	Next       time.Time     `json:"next,omitzero"`        // requests of this client wait for this bucket, of a minute or more, until then; zero: none does
	Unreported bool          `json:"unreported,omitempty"` // only the policy was reported: Remaining and Reset are unknown
	History    []Sample      `json:"history,omitempty"`    // the last minute, oldest first, one a second; like the next two, not to be changed
	Hour       []Sample      `json:"hour,omitempty"`       // the last hour, oldest first, one a minute
	Day        []Sample      `json:"day,omitempty"`        // the last day, oldest first, one an hour
}

// MarshalJSON leaves out what remains where nothing was reported of it.
func (b Bucket) MarshalJSON() ([]byte, error) {
	type fields Bucket
	known := struct {
		fields
		Remaining *int64 `json:"remaining,omitempty"`
	}{fields: fields(b)}
	if !b.Unreported {
		known.Remaining = &b.Remaining
	}
	return json.Marshal(known)
}

// Sample is one second of a bucket, or one minute or hour in the coarser
// histories.
type Sample struct {
	At        time.Time `json:"at"`                  // its start
	Known     bool      `json:"known,omitempty"`     // whether a report fell into it
	Remaining int64     `json:"remaining,omitempty"` // the least remaining quota reported
	Own       int       `json:"own,omitempty"`       // requests of this client
	Others    int       `json:"others,omitempty"`    // requests of others: inferred, a lower bound
	Rejected  int       `json:"rejected,omitempty"`  // requests that a 429 refused, as far as seen
	Rest      int       `json:"rest,omitempty"`      // of Others, those that nobody observed: roughly a lower bound
}

// Begins returns its start.
func (s Sample) Begins() time.Time { return s.At }

// Sum adds samples up: requests of this client and of others, and how many were refused as far as seen.
func Sum(samples []Sample) (own, others, rejected int) {
	for i := range samples {
		own += samples[i].Own
		others += samples[i].Others
		rejected += samples[i].Rejected
	}
	return own, others, rejected
}

// Left estimates the remaining quota at now: as last reported, or the whole limit once the window has passed or if
// nothing was reported.
func (b *Bucket) Left(now time.Time) int64 {
	if b.Over(now) {
		return max(b.Limit, b.Remaining)
	}
	return b.Remaining
}

// Over reports whether nothing was reported of the window at now: [Bucket.Left] is then the most that may be left.
func (b *Bucket) Over(now time.Time) bool {
	return b.Unreported || b.Reset > 0 && now.Sub(b.ObservedAt) >= b.Reset
}

// Reserve is how many requests those below [Person] leave, as by default in [PacerConfig].
func (b *Bucket) Reserve() int64 { return reserve(defaultReserve, b.Limit, cmp.Or(b.Window, b.Reset)) }

// Kept reports whether what waits for the bucket waits until it is full again: what is left is kept for others.
func (b *Bucket) Kept() bool {
	return !b.Next.Before(b.ObservedAt.Add(cmp.Or(b.Reset, b.Window)))
}

func compareBuckets(a, b Bucket) int {
	return cmp.Or(compareClasses(a.Class, b.Class), cmp.Compare(a.Window, b.Window),
		cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Limit, b.Limit))
}
