package account

import (
	"math"
	"time"

	"tillwatch/api/quota"
)

// Latency is how long the service has recently taken to answer requests of one class, from tillwatch or from
// others. It is immutable.
type Latency struct {
	Class      quota.Class     `json:"class,omitempty"`      // of the endpoints; "" if the contract names none
	Others     bool            `json:"others,omitempty"`     // requests seen by proxies; otherwise those that tillwatch sent
	Since      time.Time       `json:"since,omitzero"`       // the start of what Recent covers: less than an hour ago if nothing earlier is known
	Recent     Pace            `json:"recent,omitzero"`      // of the last hour, without refusals (429): answering those takes no work
	Unanswered int             `json:"unanswered,omitempty"` // requests of the last hour without an answer
	Days       int             `json:"days,omitempty"`       // how many of the seven UTC days before today have data; 0: there is nothing to compare with
	Past       Pace            `json:"past,omitzero"`        // of those days; percentiles are exact to a bucket
	Buckets    []LatencyBucket `json:"buckets,omitempty"`    // from the fastest to the slowest answer, without gaps
}

// LatencyBucket counts answers that took longer than the previous bucket's bound and at most its own. Ten buckets
// span a factor of ten.
type LatencyBucket struct {
	UpTo   time.Duration `json:"upToNs"`
	Recent int           `json:"recent,omitempty"` // of the last hour
	Past   int           `json:"past,omitempty"`   // of the days before
}

// histogram counts answers by bucket.
type histogram map[int]int

const lastBucket = 50 // 100 s and longer; the first is 1 ms and shorter

func bucketOfLatency(took time.Duration) int {
	return min(max(int(math.Ceil(10*math.Log10(took.Seconds()*1000)-1e-9)), 0), lastBucket)
}

// reach is the longest latency that a bucket holds, except the last.
func reach(bucket int) time.Duration {
	return time.Duration(math.Pow(10, float64(bucket)/10) * float64(time.Millisecond)).Round(time.Microsecond)
}

// pace returns the pace of the counted answers.
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

// quantile estimates a quantile of n answers, as if those in a bucket were evenly spread.
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
