package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// quotaForm tells which buckets there are and those that changed. Of a history it
// tells the samples that changed: it grows by one a second.
type quotaForm struct {
	Count   int          `json:"count"`
	Changed []bucketForm `json:"changed,omitempty"`
}

type bucketForm struct {
	At         int         `json:"at"`            // its place
	New        bool        `json:"new,omitempty"` // another bucket than was there before
	Class      string      `json:"class"`
	Policy     string      `json:"policy,omitempty"`
	Limit      int64       `json:"limit,omitempty"`
	Window     int64       `json:"windowNs,omitempty"`
	Remaining  int64       `json:"remaining"`
	Reset      int64       `json:"resetNs,omitempty"`
	ObservedAt instant     `json:"observedAt,omitzero"`
	Own        float64     `json:"own,omitempty"`
	Others     float64     `json:"others,omitempty"`
	Rejected   int64       `json:"rejected,omitempty"`
	Exhausted  int64       `json:"exhaustedNs,omitempty"`
	Unreported bool        `json:"unreported,omitempty"`
	Minute     historyForm `json:"minute,omitzero"`
	Hour       historyForm `json:"hour,omitzero"`
	Day        historyForm `json:"day,omitzero"`
}

// historyForm is what changed of a history, oldest first.
type historyForm struct {
	From    int64        `json:"from"` // when the history begins, in milliseconds; what was before is forgotten
	Samples []sampleForm `json:"samples,omitempty"`
}

// sampleForm is when it begins in milliseconds, whether a report fell into it,
// what remained, own and others' requests, and refused ones.
type sampleForm [6]int64

func sampleFormOf(s quota.Sample) sampleForm {
	known := int64(0)
	if s.Known {
		known = 1
	}
	return sampleForm{s.At.UnixMilli(), known, s.Remaining, int64(s.Own), int64(s.Others), int64(s.Rejected)}
}

func (s sampleForm) sample() quota.Sample {
	return quota.Sample{At: time.UnixMilli(s[0]).UTC(), Known: s[1] != 0, Remaining: s[2], Own: int(s[3]), Others: int(s[4]), Rejected: int(s[5])}
}

// quotaWriter remembers what it told of each bucket.
type quotaWriter struct {
	begun bool
	told  []toldBucket
}

type toldBucket struct {
	form              []byte // without histories
	minute, hour, day []sampleForm
}

// encode returns nil when nothing changed.
func (w *quotaWriter) encode(buckets []quota.Bucket) (json.RawMessage, error) {
	form := quotaForm{Count: len(buckets)}
	same := w.begun && len(buckets) == len(w.told)
	if !same {
		w.told = make([]toldBucket, len(buckets))
	}
	for i := range buckets {
		b := bucketFormOf(i, &buckets[i])
		head, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("encoding the quota: %w", err)
		}
		told := &w.told[i]
		if b.New = told.form == nil || !sameBucket(told.form, &b); b.New {
			*told = toldBucket{}
		}
		b.Minute, told.minute = historyChange(told.minute, buckets[i].History)
		b.Hour, told.hour = historyChange(told.hour, buckets[i].Hour)
		b.Day, told.day = historyChange(told.day, buckets[i].Day)
		if b.New || !bytes.Equal(head, told.form) || !b.Minute.IsZero() || !b.Hour.IsZero() || !b.Day.IsZero() {
			form.Changed = append(form.Changed, b)
		}
		told.form = head
	}
	if same && len(form.Changed) == 0 {
		return nil, nil
	}
	w.begun = true
	return json.Marshal(form)
}

func bucketFormOf(at int, b *quota.Bucket) bucketForm {
	return bucketForm{
		At: at, Class: string(b.Class), Policy: b.Policy, Limit: b.Limit, Window: int64(b.Window), Remaining: b.Remaining,
		Reset: int64(b.Reset), ObservedAt: instant(b.ObservedAt), Own: b.Own, Others: b.Others, Rejected: b.Rejected,
		Exhausted: int64(b.Exhausted), Unreported: b.Unreported,
	}
}

// sameBucket compares what identifies a bucket.
func sameBucket(told []byte, b *bucketForm) bool {
	var before bucketForm
	return json.Unmarshal(told, &before) == nil && before.Class == b.Class && before.Policy == b.Policy &&
		before.Limit == b.Limit && before.Window == b.Window
}

// IsZero leaves out what did not change.
func (h historyForm) IsZero() bool { return h.From == 0 && len(h.Samples) == 0 }

func historyChange(told []sampleForm, history []quota.Sample) (historyForm, []sampleForm) {
	if len(history) == 0 {
		return historyForm{}, nil
	}
	now := make([]sampleForm, len(history))
	for i := range history {
		now[i] = sampleFormOf(history[i])
	}
	if slices.Equal(told, now) {
		return historyForm{}, told
	}
	change := historyForm{From: now[0][0]}
	for _, s := range now {
		if i, ok := slices.BinarySearchFunc(told, s[0], compareSample); !ok || told[i] != s {
			change.Samples = append(change.Samples, s)
		}
	}
	return change, now
}

func compareSample(s sampleForm, at int64) int {
	switch {
	case s[0] < at:
		return -1
	case s[0] > at:
		return 1
	}
	return 0
}

// What a recording may claim: no account has more buckets, no history is longer.
const (
	mostBuckets = 256
	mostSamples = 4096
)

func mergeQuota(before []quota.Bucket, raw json.RawMessage) ([]quota.Bucket, error) {
	var form quotaForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return before, fmt.Errorf("decoding the quota: %w", err)
	}
	if form.Count < 0 || form.Count > mostBuckets {
		return before, fmt.Errorf("decoding the quota: %d buckets", form.Count)
	}
	buckets := make([]quota.Bucket, form.Count)
	copy(buckets, before)
	for _, c := range form.Changed {
		if c.At < 0 || c.At >= len(buckets) {
			return before, fmt.Errorf("decoding the quota: bucket %d of %d", c.At, len(buckets))
		}
		b := quota.Bucket{
			Class: quota.Class(api.Scrub(c.Class)), Policy: string(api.Scrub(c.Policy)), Limit: c.Limit, Window: time.Duration(c.Window),
			Remaining: c.Remaining, Reset: time.Duration(c.Reset), ObservedAt: time.Time(c.ObservedAt), Own: c.Own, Others: c.Others,
			Rejected: c.Rejected, Exhausted: time.Duration(c.Exhausted), Unreported: c.Unreported,
		}
		if old := &buckets[c.At]; !c.New {
			b.History, b.Hour, b.Day = old.History, old.Hour, old.Day
		}
		b.History, b.Hour, b.Day = c.Minute.merge(b.History), c.Hour.merge(b.Hour), c.Day.merge(b.Day)
		buckets[c.At] = b
	}
	return buckets, nil
}

// merge makes a new history of the one before and what changed.
func (h historyForm) merge(before []quota.Sample) []quota.Sample {
	if h.IsZero() {
		return before
	}
	from := time.UnixMilli(h.From)
	var merged []quota.Sample
	rest := h.Samples
	for _, s := range before {
		if s.At.Before(from) {
			continue
		}
		at := s.At.UnixMilli()
		for len(rest) > 0 && rest[0][0] < at {
			merged, rest = append(merged, rest[0].sample()), rest[1:]
		}
		if len(rest) > 0 && rest[0][0] == at {
			continue // it is told anew
		}
		merged = append(merged, s)
	}
	for _, s := range rest {
		merged = append(merged, s.sample())
	}
	if len(merged) > mostSamples {
		merged = merged[len(merged)-mostSamples:]
	}
	return merged
}
