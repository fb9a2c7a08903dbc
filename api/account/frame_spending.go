package account

import (
	"reflect"
	"slices"
	"time"

	"tillwatch/api/quota"
)

// mostLimits is how many limits a frame may claim: more than the contract has.
const mostLimits = 16

// newLimits are the limits that differ from what was told, with what is new of what
// was used.
func (t *FrameTeller) newLimits(now []Limit) []Limit {
	told := t.limits
	t.limits = now
	var news []Limit
	for _, l := range now {
		i := slices.IndexFunc(told, func(before Limit) bool { return before.Name == l.Name })
		if i >= 0 {
			before := told[i]
			l.Seconds, l.Minutes, l.Hours = newOf(before.Seconds, l.Seconds), newOf(before.Minutes, l.Minutes), newOf(before.Hours, l.Hours)
			before.Seconds, before.Minutes, before.Hours = nil, nil, nil
			if reflect.DeepEqual(before, l) {
				continue
			}
		}
		news = append(news, l)
	}
	return news
}

// newSpenders are the spenders that differ from what was told, with what is new of
// what they used; or all of them, where one is gone.
func (t *FrameTeller) newSpenders(now []Spender) (news []Spender, all bool) {
	told := t.spenders
	t.spenders = now
	for _, before := range told {
		if !slices.ContainsFunc(now, func(s Spender) bool { return sameSpender(before, s) }) {
			return now, true
		}
	}
	for _, s := range now {
		i := slices.IndexFunc(told, func(before Spender) bool { return sameSpender(before, s) })
		if i < 0 {
			news = append(news, s)
			continue
		}
		if uses := newUses(told[i].Uses, s.Uses); len(uses) > 0 || !s.Last.Equal(told[i].Last) {
			s.Uses = uses
			news = append(news, s)
		}
	}
	return news, false
}

func newUses(told, now []Use) (news []Use) {
	for _, u := range now {
		i := slices.IndexFunc(told, func(before Use) bool { return sameUse(before, u) })
		if i >= 0 {
			before := &told[i]
			u.Seconds, u.Minutes, u.Hours = newOf(before.Seconds, u.Seconds), newOf(before.Minutes, u.Minutes), newOf(before.Hours, u.Hours)
			if len(u.Seconds)+len(u.Minutes)+len(u.Hours) == 0 && u.P50 == before.P50 && u.P95 == before.P95 {
				continue
			}
		}
		news = append(news, u)
	}
	return news
}

// newOf is what of a course is not as it was told; both are in order.
func newOf[T timed](told, now []T) (news []T) {
	if len(told) > 0 && len(now) == len(told) && &told[0] == &now[0] {
		return nil
	}
	for _, t := range now {
		for len(told) > 0 && told[0].begins().Before(t.begins()) {
			told = told[1:]
		}
		if len(told) == 0 || told[0] != t {
			news = append(news, t)
		}
	}
	return news
}

// ToldQuota is what frames have told of the quota.
type ToldQuota struct {
	Buckets  []quota.Bucket
	Limits   []Limit
	Spenders []Spender
}

// Merge takes what a frame tells. What was handed out before does not change.
func (q *ToldQuota) Merge(f *Frame) {
	if f.Whole {
		q.Limits, q.Spenders = nil, nil
	}
	q.Buckets = mergeBuckets(q.Buckets, f)
	q.Limits = mergeLimits(q.Limits, f)
	q.Spenders = mergeSpenders(q.Spenders, f)
}

func mergeLimits(told []Limit, f *Frame) []Limit {
	told = slices.Clone(told)
	for _, l := range f.Limits {
		i := slices.IndexFunc(told, func(before Limit) bool { return before.Name == l.Name })
		switch {
		case i >= 0:
			before := &told[i]
			l.Seconds, l.Minutes, l.Hours = merged(before.Seconds, l.Seconds), merged(before.Minutes, l.Minutes), merged(before.Hours, l.Hours)
			told[i] = l
		case len(told) < mostLimits:
			told = append(told, l)
		}
	}
	for i := range told {
		l := &told[i]
		l.Seconds, l.Minutes, l.Hours = within(l.Seconds, LastMinute, f.At), within(l.Minutes, LastHour, f.At), within(l.Hours, LastDay, f.At)
	}
	return told
}

func mergeSpenders(told []Spender, f *Frame) []Spender {
	if f.AllSpenders {
		told = nil
	}
	told = slices.Clone(told)
	for _, s := range f.Spenders {
		i := slices.IndexFunc(told, func(before Spender) bool { return sameSpender(before, s) })
		switch {
		case i >= 0:
			s.Uses = mergeUses(told[i].Uses, s.Uses)
			told[i] = s
		case len(told) < mostSpenders:
			s.Uses = mergeUses(nil, s.Uses)
			told = append(told, s)
		}
	}
	for i := range told {
		uses := slices.Clone(told[i].Uses)
		for j := range uses {
			u := &uses[j]
			u.Seconds, u.Minutes, u.Hours = within(u.Seconds, LastMinute, f.At), within(u.Minutes, LastHour, f.At), within(u.Hours, LastDay, f.At)
		}
		told[i].Uses = uses
	}
	return told
}

func mergeUses(told, news []Use) []Use {
	told = slices.Clone(told)
	for _, u := range news {
		i := slices.IndexFunc(told, func(before Use) bool { return sameUse(before, u) })
		switch {
		case i >= 0:
			before := &told[i]
			u.Seconds, u.Minutes, u.Hours = merged(before.Seconds, u.Seconds), merged(before.Minutes, u.Minutes), merged(before.Hours, u.Hours)
			told[i] = u
		case len(told) < mostUses:
			told = append(told, u)
		}
	}
	return told
}

// merged is a course with what is new of it in its place.
func merged[T timed](before, news []T) []T {
	if len(news) == 0 {
		return before
	}
	all := make([]T, 0, len(before)+len(news))
	for _, t := range before {
		for len(news) > 0 && news[0].begins().Before(t.begins()) {
			all, news = append(all, news[0]), news[1:]
		}
		if len(news) == 0 || !news[0].begins().Equal(t.begins()) {
			all = append(all, t)
		}
	}
	return append(all, news...)
}

// within is what of a course still lies in the span.
func within[T timed](course []T, span Span, now time.Time) []T {
	for len(course) > 0 && (len(course) > span.Length() || course[0].begins().Before(span.first(now))) {
		course = course[1:]
	}
	return course
}

// TellQuota puts what changed of the quota alone, as a frame; whole where it is all
// there is. It puts none where nothing did.
func (t *FrameTeller) TellQuota(sum *Summary, at time.Time, whole bool) error {
	f := Frame{At: at.UTC(), Whole: whole}
	t.tellQuota(&f, sum)
	f.Spenders = shareSpenders(f.Spenders)
	if f.items() == 0 && !f.Whole && !f.AllBuckets && !f.AllSpenders {
		return nil
	}
	return putFrame(&f, t.Put)
}

// tellQuota tells what changed of the buckets, the limits and the spenders.
func (t *FrameTeller) tellQuota(f *Frame, sum *Summary) {
	f.Buckets, f.AllBuckets = t.newBuckets(sum.Quota)
	f.Limits = t.newLimits(sum.Limits)
	f.Spenders, f.AllSpenders = t.newSpenders(sum.Spenders)
}
