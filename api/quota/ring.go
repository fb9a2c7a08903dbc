package quota

import (
	"math"
	"time"
)

// ring counts what happened in the last so many spans of one width.
type ring struct {
	width time.Duration
	spans []span
	shown []Sample // as last asked for; nil when something has happened since
}

type span struct {
	number    int64 // of the span since the epoch
	known     bool
	remaining int64
	own       int
	rejected  int     // of own
	inferred  int     // of others, at least, by own answers alone
	observed  int     // of others, seen by somebody
	unseen    float64 // charged to whom nobody saw, by all answers
	apart     int     // of own and observed, those that unseen holds too
}

func (s *span) sample(number int64, width time.Duration, zone *time.Location) Sample {
	return Sample{
		At: time.Unix(0, number*int64(width)).In(zone), Known: s.known, Remaining: s.remaining,
		Own: s.own, Others: s.others(width), Rejected: s.rejected, Rest: s.rest(),
	}
}

// others is the requests of everybody else. A second is too short to tell which of
// the requests around it an answer has counted.
func (s *span) others(width time.Duration) int {
	if width < time.Minute {
		return max(s.inferred, s.observed)
	}
	return s.observed + s.rest()
}

// rest is what was charged to those whom nobody saw: by all answers, where those
// tell, else at least so much.
func (s *span) rest() int {
	return max(int(math.Round(s.unseen))-s.apart, s.inferred-s.observed, 0)
}

func newRing(width time.Duration, length int) ring {
	return ring{width: width, spans: make([]span, length)}
}

func (r *ring) number(at time.Time) int64 { return at.UnixNano() / int64(r.width) }

// at is the span that a moment falls into, to be changed; emptied first when it
// held an older one. What is too old for the ring changes nothing of it.
func (r *ring) at(moment time.Time) *span {
	n := r.number(moment)
	s := &r.spans[uint64(n)%uint64(len(r.spans))]
	if s.number > n {
		return &span{}
	}
	r.shown = nil
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

// samples is the ring up to now, oldest first, spans without news included. It is
// shared between those who ask, and never changed.
func (r *ring) samples(now time.Time) []Sample {
	last := r.number(now)
	first := last - int64(len(r.spans)) + 1
	if len(r.shown) > 0 && r.number(r.shown[0].At) == first {
		return r.shown
	}
	samples := make([]Sample, 0, len(r.spans))
	for n := first; n <= last; n++ {
		s := r.spans[uint64(n)%uint64(len(r.spans))]
		if s.number != n {
			s = span{}
		}
		samples = append(samples, s.sample(n, r.width, now.Location()))
	}
	r.shown = samples
	return samples
}

// rates is own and others' requests a second over the last so many spans, or over
// the time since since where that is shorter, but at least over one span.
func (r *ring) rates(spans int, since, now time.Time) (own, others float64) {
	last := r.number(now)
	for _, s := range r.spans {
		if s.number <= last && s.number > last-int64(spans) {
			own += float64(s.own)
			others += float64(s.others(r.width))
		}
	}
	over := min(max(now.Sub(since), r.width), r.width*time.Duration(spans)).Seconds()
	return own / over, others / over
}
