package quota

import "time"

// ring counts what happened in the last so many spans of one width.
type ring struct {
	width time.Duration
	spans []span
}

type span struct {
	number    int64 // of the span since the epoch
	known     bool
	remaining int64
	own       int
	others    int
}

func newRing(width time.Duration, length int) ring {
	return ring{width: width, spans: make([]span, length)}
}

func (r *ring) number(at time.Time) int64 { return at.UnixNano() / int64(r.width) }

// at is the span that a moment falls into, emptied first when it held another.
func (r *ring) at(moment time.Time) *span {
	n := r.number(moment)
	s := &r.spans[uint64(n)%uint64(len(r.spans))]
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

// samples is the ring up to now, oldest first, spans without news included.
func (r *ring) samples(now time.Time) []Sample {
	last := r.number(now)
	samples := make([]Sample, 0, len(r.spans))
	for n := last - int64(len(r.spans)) + 1; n <= last; n++ {
		sample := Sample{At: time.Unix(0, n*int64(r.width)).In(now.Location())}
		if s := r.spans[uint64(n)%uint64(len(r.spans))]; s.number == n {
			sample.Known, sample.Remaining = s.known, s.remaining
			sample.Own, sample.Others = s.own, s.others
		}
		samples = append(samples, sample)
	}
	return samples
}

// rates is own and others' requests a second over the ring's length, or over the
// time since since where that is shorter, but at least over one span.
func (r *ring) rates(since, now time.Time) (own, others float64) {
	last := r.number(now)
	for _, s := range r.spans {
		if s.number <= last && s.number > last-int64(len(r.spans)) {
			own += float64(s.own)
			others += float64(s.others)
		}
	}
	over := min(max(now.Sub(since), r.width), r.width*time.Duration(len(r.spans))).Seconds()
	return own / over, others / over
}
