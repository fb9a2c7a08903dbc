package account

import (
	"math"
	"strings"
	"time"

	"tillwatch/api/quota"
)

// agentsName is in the name of the policy that tells of the agents; the contract
// does not show what it is called.
const agentsName = "agent"

// firstBucket is the first bucket that is such a one; nil for none.
func firstBucket(buckets []quota.Bucket, is func(*quota.Bucket) bool) *quota.Bucket {
	for i := range buckets {
		if is(&buckets[i]) {
			return &buckets[i]
		}
	}
	return nil
}

// bucketOf is the bucket of a class with the shortest window, where a header has
// named one: the contract's per-second bucket.
func bucketOf(buckets []quota.Bucket, class quota.Class) *quota.Bucket {
	return firstBucket(buckets, func(b *quota.Bucket) bool { // the shortest windows come first
		return b.Class == class && b.Limit > 0 && b.Window < shortestDay && !ofAgents(b)
	})
}

// LimitOf is the limit of the contract that a bucket tells of: requests of its class,
// the day's intents or the agents.
func LimitOf(b *quota.Bucket) LimitName {
	switch {
	case ofAgents(b):
		return LimitAgents
	case ofDay(b):
		return LimitDay
	}
	return LimitName(b.Class)
}

// ofAgents reports whether a bucket is that of the agents.
func ofAgents(b *quota.Bucket) bool {
	return b.Class == quota.Mutations && b.Limit > 0 && strings.Contains(strings.ToLower(b.Policy), agentsName)
}

// limits remembers how much was used of the limits that no bucket has a history of.
type limits struct {
	day, agents courseBook[Level]
}

// limitsOf are the limits of the account, as a summary has them.
func (l *limits) of(sum *Summary, now time.Time) []Limit {
	all := make([]Limit, 0, 5)
	for _, name := range []LimitName{LimitReads, LimitMutations, LimitLookup} {
		all = append(all, limitOf(name, bucketOf(sum.Quota, quota.Class(name)), now))
	}
	day, agents := dayLimit(sum, now), agentsLimit(sum, now)
	day.Courses, agents.Courses = l.day.courses(now), l.agents.courses(now)
	return append(all, day, agents)
}

// remember keeps how much is used now.
func (l *limits) remember(sum *Summary, now time.Time) {
	for levels, limit := range map[*courseBook[Level]]Limit{&l.day: dayLimit(sum, now), &l.agents: agentsLimit(sum, now)} {
		if limit.Used.Grounds != NotKnown {
			levels.edit(now, now, func(at time.Time) Level { return Level{At: at} }, func(level *Level) {
				level.Used = max(level.Used, limit.Used.N)
			})
		}
	}
}

// recall takes what was used in an earlier run.
func (l *limits) recall(told []Limit, now time.Time) {
	for _, limit := range told {
		switch limit.Name {
		case LimitDay:
			l.day.recall(limit.Courses, now)
		case LimitAgents:
			l.agents.recall(limit.Courses, now)
		}
	}
}

// contractLimits is how many requests a second the contract allows a class (contract,
// Limits).
func contractLimit(name LimitName) int {
	if name == LimitMutations {
		return 5
	}
	return 10
}

// limitOf is the limit of a class of endpoints, of which b is the bucket; nil while no
// header has named it.
func limitOf(name LimitName, b *quota.Bucket, now time.Time) Limit {
	if b == nil {
		return Limit{Name: name, Window: time.Second, Limit: Figure{contractLimit(name), Assumed}}
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
		At: utc(now), Pace: d.Pace, RunsOut: runsOut(d.Exhausted, now), Returns: d.Resets,
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

// limitFigure is a limit of which 0 says that it is not known.
func limitFigure(n int, assumed bool) Figure {
	switch {
	case n <= 0:
		return Figure{}
	case assumed:
		return Figure{n, Assumed}
	}
	return Figure{n, Told}
}

// recentPace is the time by which the pace is told.
const recentPace = 15 * time.Minute

// pace is how much was used an hour, by the minutes of the last quarter of one.
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
