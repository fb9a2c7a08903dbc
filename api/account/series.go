package account

import (
	"slices"
	"time"
)

// Series is what happened in the last minute, hour and day, the oldest first. Stretches without data are left
// out.
type Series[T timed] struct {
	Seconds []T `json:"seconds,omitempty"` // of the last minute
	Minutes []T `json:"minutes,omitempty"` // of the last hour
	Hours   []T `json:"hours,omitempty"`   // of the last day
}

// timed is the data of one second, minute or hour: a [Tally], a [Level] or a [quota.Sample].
type timed interface {
	comparable
	Begins() time.Time
}

// Begins returns its start.
func (t Tally) Begins() time.Time { return t.At }

// Begins returns its start.
func (l Level) Begins() time.Time { return l.At }

// Over returns the data of one span, the oldest first.
func (c Series[T]) Over(span Span) []T { return [...][]T{c.Seconds, c.Minutes, c.Hours}[span] }

// each returns the series with change applied to each span.
func (c Series[T]) each(change func(Span, []T) []T) Series[T] {
	return Series[T]{change(LastMinute, c.Seconds), change(LastHour, c.Minutes), change(LastDay, c.Hours)}
}

func (c Series[T]) empty() bool { return len(c.Seconds)+len(c.Minutes)+len(c.Hours) == 0 }

// newSince returns the entries that differ from those written before.
func (c Series[T]) newSince(written Series[T]) Series[T] {
	return c.each(func(span Span, now []T) (news []T) {
		written := written.Over(span)
		for _, t := range now {
			for len(written) > 0 && written[0].Begins().Before(t.Begins()) {
				written = written[1:]
			}
			if len(written) == 0 || written[0] != t {
				news = append(news, t)
			}
		}
		return news
	})
}

// with returns the series with news merged in, entry by entry.
func (c Series[T]) with(news Series[T]) Series[T] {
	return c.each(func(span Span, before []T) []T {
		news := news.Over(span)
		if len(news) == 0 {
			return before
		}
		all := make([]T, 0, len(before)+len(news))
		for _, t := range before {
			for len(news) > 0 && news[0].Begins().Before(t.Begins()) {
				all, news = append(all, news[0]), news[1:]
			}
			if len(news) == 0 || !news[0].Begins().Equal(t.Begins()) {
				all = append(all, t)
			}
		}
		return append(all, news...)
	})
}

// within drops the entries that no longer lie in their spans.
func (c Series[T]) within(now time.Time) Series[T] {
	return c.each(func(span Span, entries []T) []T {
		for len(entries) > 0 && (len(entries) > span.Length() || entries[0].Begins().Before(span.first(now))) {
			entries = entries[1:]
		}
		return entries
	})
}

// seriesBook gathers series.
type seriesBook[T timed] [3]spanSeries[T]

// edit applies change to the entry of moment in each span.
func (b *seriesBook[T]) edit(moment, now time.Time, blank func(at time.Time) T, change func(*T)) {
	for _, span := range Spans() {
		if at := span.at(moment); !at.Before(span.first(now)) {
			change(b[span].at(at, blank))
		}
	}
}

// series returns the entries up to now. They never change.
func (b *seriesBook[T]) series(now time.Time) Series[T] {
	return Series[T]{}.each(func(span Span, _ []T) []T { return b[span].between(span.first(now), now) })
}

// recall restores an earlier run's entries where there are none yet.
func (b *seriesBook[T]) recall(saved Series[T], now time.Time) {
	for _, span := range Spans() {
		for _, t := range saved.Over(span) {
			if at := t.Begins(); at.Equal(span.at(at)) && !at.Before(span.first(now)) && !at.After(now) {
				*b[span].at(at.UTC(), func(time.Time) T { return t }) = t
			}
		}
	}
}

// at is the start of the second, minute or hour that contains moment.
func (s Span) at(moment time.Time) time.Time { return moment.UTC().Truncate(s.Width()) }

// first is the start of the oldest entry still in the span.
func (s Span) first(now time.Time) time.Time {
	return s.at(now).Add(-time.Duration(s.Length()-1) * s.Width())
}

// spanSeries holds the entries of one span, the oldest first.
type spanSeries[T timed] struct {
	list []T
}

func (c *spanSeries[T]) at(at time.Time, blank func(time.Time) T) *T {
	i, found := slices.BinarySearchFunc(c.list, at, func(t T, at time.Time) int { return t.Begins().Compare(at) })
	if !found {
		c.list = slices.Insert(c.list, i, blank(at))
	}
	return &c.list[i]
}

// between returns the entries from first to now, and drops those before. If the clock was set back, others follow.
func (c *spanSeries[T]) between(first, now time.Time) []T {
	old := 0
	for old < len(c.list) && c.list[old].Begins().Before(first) {
		old++
	}
	c.list = slices.Delete(c.list, 0, old)
	upTo := len(c.list)
	for upTo > 0 && c.list[upTo-1].Begins().After(now) {
		upTo--
	}
	return slices.Clone(c.list[:upTo])
}
