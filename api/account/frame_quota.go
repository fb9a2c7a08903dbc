package account

import (
	"reflect"
	"slices"
	"time"

	"tillwatch/api/quota"
)

// Bounds of what a frame may bring: no account has more buckets, and the contract has fewer limits.
const (
	mostBuckets = 256
	mostLimits  = 16
)

// frameQuota is the quota as frames have reported it so far.
type frameQuota struct {
	Buckets  []quota.Bucket
	Limits   []Limit
	Spenders []Spender
}

// WriteQuota writes what changed of the quota as a frame, or all of it if whole is set; no frame if nothing
// changed.
func (t *FrameWriter) WriteQuota(sum *Summary, at time.Time, whole bool) error {
	f := Frame{At: at.UTC(), Whole: whole}
	t.addQuota(&f, sum)
	f.Spenders = shareSpenders(f.Spenders)
	if f.items() == 0 && !f.Whole && !f.AllBuckets && !f.AllSpenders {
		return nil
	}
	return putFrame(&f, t.Put)
}

// addQuota adds the changed buckets, limits and spenders to a frame. If a bucket or spender came or went, it adds
// all.
func (t *FrameWriter) addQuota(f *Frame, sum *Summary) {
	written := t.quota
	t.quota = frameQuota{slices.Clone(sum.Quota), sum.Limits, sum.Spenders}
	if f.AllBuckets = !slices.EqualFunc(written.Buckets, sum.Quota, sameBucket); f.AllBuckets {
		written.Buckets = nil
	}
	f.Buckets = inUTC(changedOf(written.Buckets, sum.Quota, sameBucket, newOfBucket))
	f.Limits = changedOf(written.Limits, sum.Limits, sameLimit, newOfLimit)
	f.AllSpenders = slices.ContainsFunc(written.Spenders, func(before Spender) bool {
		return !slices.ContainsFunc(sum.Spenders, func(s Spender) bool { return sameSpender(before, s) })
	})
	if f.AllSpenders {
		written.Spenders = nil
	}
	f.Spenders = changedOf(written.Spenders, sum.Spenders, sameSpender, newOfSpender)
}

// changedOf returns what newOf reports as new of each value, compared with the same value in written.
func changedOf[T any](written, now []T, same func(a, b T) bool, newOf func(before, now T) (T, bool)) []T {
	var changed []T
	for _, v := range now {
		differs := true
		if i := slices.IndexFunc(written, func(before T) bool { return same(before, v) }); i >= 0 {
			v, differs = newOf(written[i], v)
		}
		if differs {
			changed = append(changed, v)
		}
	}
	return changed
}

// sameBucket compares what identifies a bucket.
func sameBucket(a, b quota.Bucket) bool {
	return a.Class == b.Class && a.Policy == b.Policy && a.Limit == b.Limit && a.Window == b.Window
}

func sameLimit(a, b Limit) bool { return a.Name == b.Name }

func newOfBucket(before, b quota.Bucket) (quota.Bucket, bool) {
	setSamples(&b, samplesOf(&b).newSince(samplesOf(&before)))
	setSamples(&before, Series[quota.Sample]{})
	return b, !reflect.DeepEqual(before, b)
}

func newOfLimit(before, l Limit) (Limit, bool) {
	l.Series, before.Series = l.newSince(before.Series), Series[Level]{}
	return l, !reflect.DeepEqual(before, l)
}

func newOfSpender(before, s Spender) (Spender, bool) {
	s.Uses = changedOf(before.Uses, s.Uses, sameUse, func(before, u Use) (Use, bool) {
		u.Series = u.newSince(before.Series)
		return u, !u.empty() || u.P50 != before.P50 || u.P95 != before.P95
	})
	return s, len(s.Uses) > 0 || !s.Last.Equal(before.Last)
}

func samplesOf(b *quota.Bucket) Series[quota.Sample] {
	return Series[quota.Sample]{Seconds: b.History, Minutes: b.Hour, Hours: b.Day}
}

func setSamples(b *quota.Bucket, c Series[quota.Sample]) {
	b.History, b.Hour, b.Day = c.Seconds, c.Minutes, c.Hours
}

func inUTC(buckets []quota.Bucket) []quota.Bucket {
	for i := range buckets {
		b := &buckets[i]
		b.ObservedAt, b.Next = b.ObservedAt.UTC(), b.Next.UTC()
		setSamples(b, samplesOf(b).each(func(_ Span, samples []quota.Sample) []quota.Sample {
			samples = slices.Clone(samples)
			for i := range samples {
				samples[i].At = samples[i].At.UTC()
			}
			return samples
		}))
	}
	return buckets
}

// merge takes in a frame. It does not change what was returned before.
func (q *frameQuota) merge(f *Frame) {
	if f.Whole {
		q.Limits, q.Spenders = nil, nil
	}
	if f.AllBuckets {
		q.Buckets = nil
	}
	if f.AllSpenders {
		q.Spenders = nil
	}
	q.Buckets = mergedOf(q.Buckets, f.Buckets, mostBuckets, sameBucket, func(before, b quota.Bucket) quota.Bucket {
		setSamples(&b, samplesOf(&before).with(samplesOf(&b)).each(func(span Span, samples []quota.Sample) []quota.Sample {
			return newest(samples, span.Length())
		}))
		return b
	})
	q.Limits = mergedOf(q.Limits, f.Limits, mostLimits, sameLimit, func(before, l Limit) Limit {
		l.Series = before.with(l.Series)
		return l
	})
	for i := range q.Limits {
		q.Limits[i].Series = q.Limits[i].within(f.At)
	}
	q.Spenders = mergedOf(q.Spenders, f.Spenders, mostSpenders, sameSpender, func(before, s Spender) Spender {
		s.Uses = mergedOf(before.Uses, s.Uses, mostUses, sameUse, func(before, u Use) Use {
			u.Series = before.with(u.Series)
			return u
		})
		return s
	})
	for i := range q.Spenders {
		uses := slices.Clone(q.Spenders[i].Uses)
		for j := range uses {
			uses[j].Series = uses[j].within(f.At)
		}
		q.Spenders[i].Uses = uses
	}
}

// mergedOf returns known with news merged in by join, at most most values.
func mergedOf[T any](known, news []T, most int, same func(a, b T) bool, join func(before, news T) T) []T {
	known = slices.Clone(known)
	for _, v := range news {
		i := slices.IndexFunc(known, func(before T) bool { return same(before, v) })
		switch {
		case i >= 0:
			known[i] = join(known[i], v)
		case len(known) < most:
			var nothing T
			known = append(known, join(nothing, v))
		}
	}
	return known
}
