package account

import (
	"slices"
	"time"
)

// courses is what happened in the last minute, hour and day.
type courses[T timed] [3]course[T]

// timed is what is kept of one stretch of time: a [Tally] or a [Level].
type timed interface {
	comparable
	begins() time.Time
}

func (t Tally) begins() time.Time { return t.At }
func (l Level) begins() time.Time { return l.At }

// edit changes what is kept of a moment in each span that it lies in.
func (c *courses[T]) edit(moment, now time.Time, blank func(at time.Time) T, change func(*T)) {
	for _, span := range Spans() {
		if at := span.at(moment); !at.Before(span.first(now)) {
			change(c[span].at(at, blank))
		}
	}
}

// over is what happened in a span up to now, oldest first. It is never changed.
func (c *courses[T]) over(span Span, now time.Time) []T { return c[span].since(span.first(now)) }

// recall fills what is empty with what was told before.
func (c *courses[T]) recall(told [3][]T, now time.Time) {
	for _, span := range Spans() {
		for _, t := range told[span] {
			if at := t.begins(); at.Equal(span.at(at)) && !at.Before(span.first(now)) && !at.After(now) {
				*c[span].at(at.UTC(), func(time.Time) T { return t }) = t
			}
		}
	}
}

// at is the start of the second, minute or hour that a moment lies in.
func (s Span) at(moment time.Time) time.Time { return moment.UTC().Truncate(s.Width()) }

// first is the start of the oldest that is still in the span.
func (s Span) first(now time.Time) time.Time {
	return s.at(now).Add(-time.Duration(s.Length()-1) * s.Width())
}

// course is what happened in the stretches of one span, those of which something is
// known, oldest first.
type course[T timed] struct {
	list []T
	told []T // the list as it was last told; nil when it has changed
}

func (c *course[T]) at(at time.Time, blank func(time.Time) T) *T {
	c.told = nil
	i, found := slices.BinarySearchFunc(c.list, at, func(t T, at time.Time) int { return t.begins().Compare(at) })
	if !found {
		c.list = slices.Insert(c.list, i, blank(at))
	}
	return &c.list[i]
}

func (c *course[T]) since(first time.Time) []T {
	old := 0
	for old < len(c.list) && c.list[old].begins().Before(first) {
		old++
	}
	if old > 0 {
		c.list, c.told = slices.Delete(c.list, 0, old), nil
	}
	if c.told == nil {
		c.told = slices.Clone(c.list)
	}
	return c.told
}
