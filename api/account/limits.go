package account

import (
	"math"
	"strings"
	"time"

	"tillwatch/api/quota"
)

// agentsName is part of the name of the agents' policy; the contract does not show the whole name.
const agentsName = "agent"

// firstBucket returns the first bucket for which is returns true; nil for none.
func firstBucket(buckets []quota.Bucket, is func(*quota.Bucket) bool) *quota.Bucket {
	for i := range buckets {
		if is(&buckets[i]) {
			return &buckets[i]
		}
	}
	return nil
}

// bucketOf returns the bucket of a class with the shortest window, the contract's per-second one; nil until a
// header names it.
func bucketOf(buckets []quota.Bucket, class quota.Class) *quota.Bucket {
	return firstBucket(buckets, func(b *quota.Bucket) bool { // sorted by window, the shortest first
		return b.Class == class && b.Limit > 0 && b.Window < shortestDay && !ofAgents(b)
	})
}

// LimitOf returns the limit that a bucket belongs to: its endpoint class, the day or the agents.
func LimitOf(b *quota.Bucket) LimitName {
	switch {
	case ofAgents(b):
		return LimitAgents
	case ofDay(b):
		return LimitDay
	}
	return LimitName(b.Class)
}

// ofAgents reports whether a bucket limits the agents.
func ofAgents(b *quota.Bucket) bool {
	return b.Class == quota.Mutations && b.Limit > 0 && strings.Contains(strings.ToLower(b.Policy), agentsName)
}

// limits remembers the use of limits whose buckets have no history.
type limits struct {
	day, agents seriesBook[Level]
}

// of returns the account's limits.
func (l *limits) of(sum *Summary, now time.Time) []Limit {
	all := make([]Limit, 0, 5)
	for _, name := range []LimitName{LimitReads, LimitMutations, LimitLookup} {
		all = append(all, limitOf(name, bucketOf(sum.Quota, quota.Class(name)), now))
	}
	day, agents := dayLimit(sum, now), agentsLimit(sum, now)
	day.Series, agents.Series = l.day.series(now), l.agents.series(now)
	return append(all, day, agents)
}

// remember records how much is used now.
func (l *limits) remember(sum *Summary, now time.Time) {
	for levels, limit := range map[*seriesBook[Level]]Limit{&l.day: dayLimit(sum, now), &l.agents: agentsLimit(sum, now)} {
		if limit.Used.Grounds != NotKnown {
			levels.edit(now, now, func(at time.Time) Level { return Level{At: at} }, func(level *Level) {
				level.Used = max(level.Used, limit.Used.N)
			})
		}
	}
}

// recall restores the use in an earlier run.
func (l *limits) recall(saved []Limit, now time.Time) {
	for _, limit := range saved {
		switch limit.Name {
		case LimitDay:
			l.day.recall(limit.Series, now)
		case LimitAgents:
			l.agents.recall(limit.Series, now)
		}
	}
}

// limitOf returns the limit of an endpoint class. b is its bucket; nil until a header names it.
func limitOf(name LimitName, b *quota.Bucket, now time.Time) Limit {
	if b == nil {
		return Limit{Name: name, Window: time.Second, Limit: Figure{whole(quota.Class(name).DefaultLimit()), Assumed}}
	}
	l := Limit{Name: name, Window: b.Window, Limit: Figure{whole(b.Limit), Told}, Pace: pace(b.Hour, now)}
	holds := !b.Unreported && now.Before(b.ObservedAt.Add(max(b.Reset, b.Window)))
	switch {
	case holds:
		l.Used, l.At, l.Returns = Figure{whole(max(b.Limit-b.Remaining, 0)), Told}, utc(b.ObservedAt), utc(b.ObservedAt.Add(max(b.Reset, b.Window)))
	case len(b.History) > 0 && b.Window <= time.Second:
		last := b.History[len(b.History)-1]
		l.Used, l.At = Figure{last.Own + last.Others, Counted}, utc(last.At)
	default:
		l.Used, l.At = Figure{0, Assumed}, utc(now)
	}
	l.RunsOut = runsOut(b.Exhausted, now)
	return l
}

func dayLimit(sum *Summary, now time.Time) Limit {
	d := &sum.Day
	l := Limit{
		Name: LimitDay, Window: wholeDay, Limit: limitFigure(d.Limit, d.Assumed), Used: Figure{d.Used(), Counted},
		At: utc(now), Pace: d.Pace, RunsOut: runsOut(d.Exhausted, now), Returns: utc(d.Resets),
	}
	switch {
	case d.Told:
		l.Used.Grounds, l.At = Told, utc(d.At)
	case d.Used() == 0 && !sum.IntentsKnown():
		l.Used.Grounds, l.At = NotKnown, time.Time{}
	}
	if !d.Spent.IsZero() {
		l.Returns = utc(d.Free)
	}
	return l
}

func agentsLimit(sum *Summary, now time.Time) Limit {
	l := Limit{
		Name: LimitAgents, Limit: limitFigure(sum.Agents.Limit, sum.Agents.Assumed), Used: Figure{sum.Agents.Placing, Counted}, At: utc(now),
	}
	b := firstBucket(sum.Quota, ofAgents)
	switch {
	case b != nil && !b.Unreported && now.Before(b.ObservedAt.Add(max(b.Reset, time.Second))):
		l.Used, l.At = Figure{whole(max(b.Limit-b.Remaining, 0)), Told}, utc(b.ObservedAt)
	case sum.Agents.Placing == 0 && !sum.IntentsKnown():
		l.Used.Grounds, l.At = NotKnown, time.Time{}
	}
	return l
}

// limitFigure returns a limit as a figure; 0 is unknown.
func limitFigure(n int, assumed bool) Figure {
	switch {
	case n <= 0:
		return Figure{}
	case assumed:
		return Figure{n, Assumed}
	}
	return Figure{n, Told}
}

// recentPace is the time over which the pace is measured.
const recentPace = 15 * time.Minute

// pace is how much was used an hour, by the minutes of the last [recentPace].
func pace(minutes []quota.Sample, now time.Time) float64 {
	used := 0
	for _, s := range minutes {
		if now.Sub(s.At) < recentPace {
			used += s.Own + s.Others
		}
	}
	return float64(used) * float64(time.Hour/recentPace)
}

func runsOut(in time.Duration, now time.Time) time.Time {
	if in <= 0 {
		return time.Time{}
	}
	return utc(now.Add(in).Truncate(time.Second))
}

func whole(n int64) int { return int(min(n, math.MaxInt32)) }
