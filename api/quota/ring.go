package quota

import (
	"math"
	"time"
)

// ring counts what happened in the most recent spans of one width.
type ring struct {
	width time.Duration
	spans []span
}

type span struct {
	number    int64 // of the span since the epoch
	known     bool
	remaining int64
	own       int
	rejected  int     // of own and observed
	inferred  int     // of others, a lower bound, by own answers only
	observed  int     // of others, observed
	unseen    float64 // of others, not observed, by all answers
	apart     int     // of own and observed, those that unseen includes
}

func (s *span) sample(number int64, width time.Duration, zone *time.Location) Sample {
	return Sample{
		At: time.Unix(0, number*int64(width)).In(zone), Known: s.known, Remaining: s.remaining,
		Own: s.own, Others: s.others(width), Rejected: s.rejected, Rest: s.rest(),
	}
}

// others returns the requests of everyone else. Within one second it is unknown which of them an answer has
// counted.
func (s *span) others(width time.Duration) int {
	if width < time.Minute {
		return max(s.inferred, s.observed)
	}
	return s.observed + s.rest()
}

// rest returns the requests of others that nobody observed, by all answers if they show it, else a lower bound.
func (s *span) rest() int {
	return max(int(math.Round(s.unseen))-s.apart, s.inferred-s.observed, 0)
}

func newRing(width time.Duration, length int) ring {
	return ring{width: width, spans: make([]span, length)}
}

func (r *ring) number(at time.Time) int64 { return at.UnixNano() / int64(r.width) }

// at returns the span that contains a moment, for changes. What is too old for the ring changes nothing in it.
func (r *ring) at(moment time.Time) *span {
	n := r.number(moment)
	s := &r.spans[uint64(n)%uint64(len(r.spans))]
	if s.number > n {
		return &span{}
	}
	if s.number != n {
		*s = span{number: n}
	}
	return s
}

func (s *span) report(remaining int64) {
	if !s.known || remaining < s.remaining {
		s.known, s.remaining = true, remaining
	}
}

// samples returns the ring up to now, oldest first, including empty spans. Spans to come are of a clock that was
// ahead, and make room.
func (r *ring) samples(now time.Time) []Sample {
	last := r.number(now)
	first := last - int64(len(r.spans)) + 1
	soon := r.number(now.Add(time.Second)) // it may be counted since now
	samples := make([]Sample, 0, len(r.spans))
	for n := first; n <= last; n++ {
		s := &r.spans[uint64(n)%uint64(len(r.spans))]
		if s.number > soon {
			*s = span{}
		}
		if s.number != n {
			s = &span{}
		}
		samples = append(samples, s.sample(n, r.width, now.Location()))
	}
	return samples
}

// rates returns own and others' requests a second over the last spans, or over the time since since if that is
// shorter, but at least one span. Those of others count from when they were first observed, which may be earlier.
func (r *ring) rates(spans int, since, now time.Time) (own, others float64) {
	last, from := r.number(now), since
	for _, s := range r.spans {
		if s.number > last || s.number <= last-int64(spans) {
			continue
		}
		own += float64(s.own)
		others += float64(s.others(r.width))
		if at := time.Unix(0, s.number*int64(r.width)); s.observed > 0 && at.Before(from) {
			from = at
		}
	}
	seconds := func(since time.Time) float64 {
		return min(max(now.Sub(since), r.width), r.width*time.Duration(spans)).Seconds()
	}
	return own / seconds(since), others / seconds(from)
}
