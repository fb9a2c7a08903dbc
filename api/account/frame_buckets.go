package account

import (
	"reflect"
	"slices"
	"time"

	"tillwatch/api/quota"
)

// newBuckets are the buckets that differ from what was told, with the samples that
// do; or all of them, where there are others than before.
func (t *FrameTeller) newBuckets(now []quota.Bucket) (news []quota.Bucket, all bool) {
	told := t.buckets
	t.buckets = slices.Clone(now)
	if !slices.EqualFunc(told, now, sameBucket) {
		return inUTC(now), true
	}
	for i := range now {
		b, before := now[i], told[i]
		b.History = newSamples(before.History, b.History)
		b.Hour = newSamples(before.Hour, b.Hour)
		b.Day = newSamples(before.Day, b.Day)
		before.History, before.Hour, before.Day = nil, nil, nil
		if reflect.DeepEqual(before, b) {
			continue
		}
		news = append(news, b)
	}
	return inUTC(news), false
}

// sameBucket compares what identifies a bucket.
func sameBucket(a, b quota.Bucket) bool {
	return a.Class == b.Class && a.Policy == b.Policy && a.Limit == b.Limit && a.Window == b.Window
}

// newSamples are the samples that are not as they were told; both lists are in
// order.
func newSamples(told, now []quota.Sample) (news []quota.Sample) {
	if len(told) > 0 && len(now) == len(told) && &told[0] == &now[0] {
		return nil
	}
	for _, s := range now {
		for len(told) > 0 && told[0].At.Before(s.At) {
			told = told[1:]
		}
		if len(told) == 0 || !told[0].At.Equal(s.At) || !sameSample(told[0], s) {
			news = append(news, s)
		}
	}
	return news
}

func sameSample(a, b quota.Sample) bool {
	a.At, b.At = time.Time{}, time.Time{}
	return a == b
}

func inUTC(buckets []quota.Bucket) []quota.Bucket {
	out := slices.Clone(buckets)
	for i := range out {
		b := &out[i]
		b.ObservedAt = b.ObservedAt.UTC()
		for _, samples := range []*[]quota.Sample{&b.History, &b.Hour, &b.Day} {
			*samples = slices.Clone(*samples)
			for j := range *samples {
				(*samples)[j].At = (*samples)[j].At.UTC()
			}
		}
	}
	return out
}

// What a frame may claim: no account has more buckets, no history is longer.
const (
	mostBuckets = 256
	mostSamples = 4096
)

// mergeBuckets returns the buckets that were told before with what a frame tells
// of them.
func mergeBuckets(told []quota.Bucket, f *Frame) []quota.Bucket {
	if f.AllBuckets {
		told = nil
	} else if len(f.Buckets) == 0 {
		return told
	}
	told = slices.Clone(told)
	for _, b := range f.Buckets {
		i := slices.IndexFunc(told, func(before quota.Bucket) bool { return sameBucket(before, b) })
		if i < 0 {
			if len(told) < mostBuckets {
				told = append(told, b)
			}
			continue
		}
		before := told[i]
		b.History = mergeSamples(before.History, b.History)
		b.Hour = mergeSamples(before.Hour, b.Hour)
		b.Day = mergeSamples(before.Day, b.Day)
		told[i] = b
	}
	return told
}

// mergeSamples is a history with new samples in their places, as long as before.
func mergeSamples(before, news []quota.Sample) []quota.Sample {
	if len(news) == 0 {
		return before
	}
	var merged []quota.Sample
	for _, s := range before {
		for len(news) > 0 && news[0].At.Before(s.At) {
			merged, news = append(merged, news[0]), news[1:]
		}
		if len(news) > 0 && news[0].At.Equal(s.At) {
			continue // it is told anew
		}
		merged = append(merged, s)
	}
	merged = append(merged, news...)
	most := mostSamples
	if len(before) > 0 {
		most = min(len(before), mostSamples)
	}
	return merged[max(len(merged)-most, 0):]
}
