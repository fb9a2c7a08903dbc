package account

import (
	"math"
	"time"

	"tillwatch/api/quota"
)

// Latency is how long the service took of late to answer requests of one class, by
// one side. It is immutable.
type Latency struct {
	Class      quota.Class     `json:"class,omitempty"`      // of the endpoints; "" where the contract names none
	Others     bool            `json:"others,omitempty"`     // of the requests that proxies saw; else of those that tillwatch sent
	Since      time.Time       `json:"since,omitzero"`       // what is told of the last hour stands on what was sent since then: less than an hour where more is not known
	Recent     Pace            `json:"recent,omitzero"`      // of the last hour, but for refusals (429): they are answered without work
	Unanswered int             `json:"unanswered,omitempty"` // in the last hour
	Days       int             `json:"days,omitempty"`       // of the seven days before this one, in UTC, those of which something is known; 0: nothing to compare with
	Past       Pace            `json:"past,omitzero"`        // of those days; its percentiles are right to a bucket
	Buckets    []LatencyBucket `json:"buckets,omitempty"`    // from the quickest answer to the slowest, without a hole
}

// LatencyBucket is how many answers took longer than the bucket before reaches, and
// no longer than this one does. Ten buckets make the tenfold.
type LatencyBucket struct {
	UpTo   time.Duration `json:"upToNs"`
	Recent int           `json:"recent,omitempty"` // of the last hour
	Past   int           `json:"past,omitempty"`   // of the days before
}

// histogram counts answers by bucket.
type histogram map[int]int

const lastBucket = 50 // of 100 s and all that is longer; the first is of a millisecond and all that is shorter

func bucketOfLatency(took time.Duration) int {
	return min(max(int(math.Ceil(10*math.Log10(took.Seconds()*1000)-1e-9)), 0), lastBucket)
}

// reach is the longest that a bucket holds, but for the last.
func reach(bucket int) time.Duration {
	return time.Duration(math.Pow(10, float64(bucket)/10) * float64(time.Millisecond)).Round(time.Microsecond)
}

// pace is that of the answers that are counted.
func (h histogram) pace() Pace {
	p := Pace{}
	for _, n := range h {
		p.Count += n
	}
	if p.Count > 0 {
		p.P50, p.P95 = h.quantile(0.50, p.Count), h.quantile(0.95, p.Count)
	}
	return p
}

// quantile is that of n answers, as if those of a bucket lay evenly in it.
func (h histogram) quantile(q float64, n int) time.Duration {
	rank := min(int(q*float64(n)), n-1)
	for bucket := 0; bucket <= lastBucket; bucket++ {
		if rank < h[bucket] {
			within := (float64(rank) + 0.5) / float64(h[bucket])
			return time.Duration(math.Pow(10, (float64(bucket)-1+within)/10) * float64(time.Millisecond)).Round(time.Microsecond)
		}
		rank -= h[bucket]
	}
	return reach(lastBucket)
}
