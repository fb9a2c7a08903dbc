package account

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Bounds of the latencies kept.
const (
	keptLatencies  = 4096 // requests of the last hour, for each book
	mostLatencies  = 8    // books
	latencyDays    = 7    // before today
	latencyRefresh = 5 * time.Second
)

// latencies holds a book for each class and side: tillwatch's own first, in the contract's order of classes.
type latencies []*latencyBook

type latencyBook struct {
	class   quota.Class
	others  bool
	cut     time.Time // when the newest request that was dropped for want of room was sent
	recent  []latencySample
	days    map[int64]histogram
	shown   Latency
	shownAt time.Time
	shownOf int // how many requests it is based on
}

// rank orders the books: tillwatch's own first.
func (b *latencyBook) rank() int {
	rank := slices.Index(quota.Classes(), b.class)
	if rank < 0 {
		rank = len(quota.Classes())
	}
	if b.others {
		rank += mostLatencies / 2
	}
	return rank
}

// latencySample is one request; took is 0 if it got no answer.
type latencySample struct {
	sent time.Time
	took time.Duration
}

// add takes a request; one with By is somebody else's.
func (l *latencies) add(e *api.Exchange, now time.Time) {
	if e.Sent.IsZero() || e.Status == http.StatusTooManyRequests || e.Status != 0 && e.Latency <= 0 {
		return
	}
	s := latencySample{sent: utc(e.Sent)}
	if e.Status != 0 {
		s.took = e.Latency
	}
	b := l.of(e.Class, e.By != "")
	b.add(s, now)
	b.addToDay(s, now)
}

func (l *latencies) of(class quota.Class, others bool) *latencyBook {
	for _, b := range *l {
		if b.class == class && b.others == others {
			return b
		}
	}
	b := &latencyBook{class: class, others: others, days: map[int64]histogram{}}
	*l = append(*l, b)
	slices.SortFunc(*l, func(a, b *latencyBook) int { return cmp.Compare(a.rank(), b.rank()) })
	return b
}

// add keeps a request sent within the last hour.
func (b *latencyBook) add(s latencySample, now time.Time) {
	b.forget(now)
	if now.Sub(s.sent) >= time.Hour || !s.sent.After(b.cut) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.recent, s.sent, func(o latencySample, sent time.Time) int {
		return cmp.Or(o.sent.Compare(sent), -1) // after those sent at the same time
	})
	b.recent = slices.Insert(b.recent, at, s)
	switch surplus := len(b.recent) - keptLatencies; {
	case surplus <= 0:
	case b.recent[keptLatencies].sent.After(now): // before the clock was set back
		b.recent = b.recent[:keptLatencies]
	default:
		b.cut = b.recent[surplus-1].sent
		b.recent = slices.Delete(b.recent, 0, surplus)
	}
}

// forget drops requests sent more than an hour ago. The clock may have been set back since some were dropped.
func (b *latencyBook) forget(now time.Time) {
	old := 0
	for old < len(b.recent) && now.Sub(b.recent[old].sent) >= time.Hour {
		old++
	}
	b.recent = slices.Delete(b.recent, 0, old)
	b.cut = earlier(b.cut, now)
}

func (b *latencyBook) addToDay(s latencySample, now time.Time) {
	day, today := dayOf(s.sent), dayOf(now)
	if s.took == 0 || day < today-latencyDays || day > today {
		return
	}
	if b.days[day] == nil {
		b.days[day] = histogram{}
		for old := range b.days {
			if old < today-latencyDays {
				delete(b.days, old)
			}
		}
	}
	b.days[day][bucketOfLatency(s.took)]++
}

// dayOf is a UTC day, counted from 1970.
func dayOf(t time.Time) int64 { return t.Unix() / int64(wholeDay/time.Second) }

// list returns the latencies of all books. It recomputes the figures at intervals, and always while they are based
// on few requests.
func (l latencies) list(known, now time.Time) []Latency {
	var all []Latency
	for _, b := range l {
		b.forget(now)
		if now.Sub(b.shownAt) >= latencyRefresh || len(b.recent) > b.shownOf*11/10 {
			b.shown, b.shownAt, b.shownOf = b.figures(known, now), now, len(b.recent)
		}
		if len(b.shown.Buckets) > 0 || b.shown.Unanswered > 0 {
			all = append(all, b.shown)
		}
	}
	return all
}

func (b *latencyBook) figures(known, now time.Time) Latency {
	l := Latency{Class: b.class, Others: b.others, Since: utc(later(now.Add(-time.Hour), later(known, b.cut)))}
	recent, past, today := histogram{}, histogram{}, dayOf(now)
	var answered []time.Duration
	for _, s := range b.recent {
		switch {
		case s.sent.After(now): // before the clock was set back
		case s.took > 0:
			answered = append(answered, s.took)
			recent[bucketOfLatency(s.took)]++
		default:
			l.Unanswered++
		}
	}
	l.Recent = paceOf(answered)
	for day, answers := range b.days {
		if day < today && day >= today-latencyDays {
			l.Days++
			for bucket, n := range answers {
				past[bucket] += n
			}
		}
	}
	l.Past = past.pace()
	first, last := lastBucket+1, -1
	for _, counts := range []histogram{recent, past} {
		for bucket := range counts {
			first, last = min(first, bucket), max(last, bucket)
		}
	}
	for bucket := first; bucket <= last; bucket++ {
		l.Buckets = append(l.Buckets, LatencyBucket{UpTo: reach(bucket), Recent: recent[bucket], Past: past[bucket]})
	}
	return l
}
