package account

import (
	"maps"
	"time"

	"tillwatch/api/quota"
)

// latencyMemory is what the next run needs of one class and side.
type latencyMemory struct {
	Class  quota.Class         `json:"class,omitempty"`
	Others bool                `json:"others,omitempty"`
	Cut    time.Time           `json:"cut,omitzero"`
	First  time.Time           `json:"first,omitzero"`  // when the first request of the last hour was sent
	After  []int64             `json:"after,omitempty"` // for each request, milliseconds after First
	Took   []int64             `json:"took,omitempty"`  // for each request, microseconds to the answer; 0 without one
	Days   map[int64]histogram `json:"days,omitempty"`  // answers by day since 1970 and bucket
}

func (l latencies) memory(now time.Time) []latencyMemory {
	var all []latencyMemory
	for _, b := range l {
		b.forget(now)
		m := latencyMemory{Class: b.class, Others: b.others, Cut: b.cut, Days: map[int64]histogram{}}
		for day, answers := range b.days {
			if day >= dayOf(now)-latencyDays {
				m.Days[day] = maps.Clone(answers)
			}
		}
		for i, s := range b.recent {
			if i == 0 {
				m.First = s.sent
			}
			m.After, m.Took = append(m.After, s.sent.Sub(m.First).Milliseconds()), append(m.Took, s.took.Microseconds())
		}
		all = append(all, m)
	}
	return all
}

// recall restores what an earlier run kept. It trusts nothing: anyone can write the file.
func (l *latencies) recall(saved []latencyMemory, now time.Time) {
	for _, m := range saved[:min(len(saved), mostLatencies)] {
		b, first := l.of(known(m.Class), m.Others), plausible(m.First)
		b.cut = earlier(later(b.cut, plausible(m.Cut)), now)
		for i := range min(len(m.After), len(m.Took), keptLatencies) {
			sent := first.Add(time.Duration(m.After[i]) * time.Millisecond)
			if took := time.Duration(m.Took[i]) * time.Microsecond; took >= 0 && !sent.After(now) {
				b.add(latencySample{sent, took}, now)
			}
		}
		for day, answers := range m.Days {
			if age := dayOf(now) - day; age < 0 || age > latencyDays {
				continue
			}
			if b.days[day] == nil {
				b.days[day] = histogram{}
			}
			for bucket, n := range answers {
				if bucket >= 0 && bucket <= lastBucket && n > 0 && n < 1<<32 {
					b.days[day][bucket] += n
				}
			}
		}
	}
}
