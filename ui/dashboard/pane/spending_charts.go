package pane

import (
	"math"
	"slices"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// axis maps moments to the cells of a chart.
type axis struct {
	share   time.Duration // of a sample
	samples int           // number of samples, each in one or several cells
	cells   int
	now     time.Time // when the newest sample began
}

// axisOf divides a span among at most the given cells.
func axisOf(span account.Span, now time.Time, cells int) axis {
	length := time.Duration(span.Length())
	t := axis{share: span.Width(), samples: span.Length(), cells: max(cells, 0), now: now.Truncate(span.Width())}
	if cells < span.Length() {
		t.samples = max(cells, 1)
		t.share = (length*span.Width() + time.Duration(t.samples) - 1) / time.Duration(t.samples)
	}
	return t
}

// at returns the cells of a moment, from first to before end, if it is in the chart.
func (t *axis) at(moment time.Time) (first, end int, ok bool) {
	sample, ok := cellOf(moment, t.now, t.share, t.samples)
	return t.first(sample), t.first(sample + 1), ok
}

// first returns the first cell of a sample.
func (t *axis) first(sample int) int { return sample * t.cells / t.samples }

// from returns when the first cell begins.
func (t *axis) from() time.Time { return t.now.Add(-time.Duration(t.samples) * t.share) }

// fill puts a bar into the cells of its moment, unless they have a higher one.
func (t *axis) fill(bars []bar, moment time.Time, c bar) {
	at, end, ok := t.at(moment)
	if !ok || at == end {
		return
	}
	marked := bars[at].marked || c.marked
	if bars[at].total() > c.total() {
		c = bars[at]
	}
	c.marked = marked
	for i := at; i < end; i++ {
		bars[i] = c
		bars[i].marked = marked && i == (at+end)/2
	}
}

// charts lists the charts of the view, in their order.
var charts = [...]string{string(quota.Reads), string(quota.Mutations), string(quota.Lookup), "today", "agents"}

// chartAt returns one of the charts.
func (s *spending) chartAt(at, w, h int) *chart {
	switch charts[at] {
	case "today":
		return s.burnDown(w, h)
	case "agents":
		return s.agentsChart(w, h)
	}
	return s.spentChart(quota.Class(charts[at]), w, h)
}

// spentChart shows what each spender spent of one class.
func (s *spending) spentChart(class quota.Class, w, h int) *chart {
	t := axisOf(s.span, s.look.Now, w-scaleWidth)
	c := s.chartOf(string(class)+" "+aSample(s.span), &t, w, h)
	known := s.knownOf(class, &t, c.bars)
	any := false
	for at, b := range s.spentBars(class) {
		if len(b.parts) > 0 {
			t.fill(c.bars, s.look.Now.Add(time.Duration(at-s.span.Length()+1)*s.span.Width()), b)
			any = true
		}
	}
	s.limitOf(c, class)
	if !known && !any {
		c.empty = "not called yet"
		if slices.ContainsFunc(s.buckets, func(b quota.Bucket) bool { return b.Class == class && !unreported(&b) }) {
			c.empty = "not called in this time"
		}
	}
	return c
}

// spentBars returns the stacked bars of a class in the span, oldest first, a part for each
// spender.
func (s *spending) spentBars(class quota.Class) []bar {
	bars := make([]bar, s.span.Length())
	for _, i := range s.stack {
		look := s.signs[i]
		for _, tally := range s.spenders[i].Over(s.span, class) {
			at, ok := cellOf(tally.At, s.look.Now, s.span.Width(), len(bars))
			if !ok || tally.Requests == 0 {
				continue
			}
			b := &bars[at]
			b.known, b.marked = true, b.marked || tally.Refused > 0
			if last := len(b.parts) - 1; last >= 0 && b.parts[last].fill == look.Glyph {
				b.parts[last].n += float64(tally.Requests)
			} else {
				b.parts = append(b.parts, part{float64(tally.Requests), look.Glyph, look.Style})
			}
		}
	}
	return bars
}

// knownOf marks the bars in which headers reported on a class.
func (s *spending) knownOf(class quota.Class, t *axis, bars []bar) (any bool) {
	for i := range s.buckets {
		if s.buckets[i].Class != class {
			continue
		}
		for _, sample := range samplesOf(&s.buckets[i], s.span) {
			if sample.Known {
				t.fill(bars, sample.At, bar{known: true})
				any = true
			}
		}
	}
	return any
}

// limitOf sets the limit of a class for one sample of the span, from its shortest window.
func (s *spending) limitOf(c *chart, class quota.Class) {
	l := s.limit(account.LimitName(class))
	if l == nil || l.Limit.Grounds == account.NotKnown || l.Window <= 0 {
		return
	}
	width := s.span.Width()
	if l.Window > width {
		return
	}
	c.limit = int(int64(l.Limit.N) * int64(width/l.Window))
	if l.Limit.Grounds == account.Assumed && c.highest() > float64(c.limit) { // so the assumption is wrong
		c.limit, c.note, c.noteStyle = 0, "limit not reported", paint.Muted
		return
	}
	c.note, c.noteStyle = "limit "+sign.Grounds(l.Limit.Grounds)+wording.Count(c.limit), paint.Muted
}

func (s *spending) chartOf(title string, t *axis, w, h int) *chart {
	c := &chart{title: title, w: w, h: h, bars: make([]bar, t.cells), from: s.time(t.from()), to: "now"}
	for i := t.first(t.samples - 1); i < t.cells; i++ {
		c.bars[i].known = true // it is not over yet
	}
	if middle := t.now.Add(-t.now.Sub(t.from()) / 2); s.span != account.LastMinute {
		c.mid, c.midAt = s.time(middle), t.cells/2
	}
	return c
}

// time is a time below an axis.
func (s *spending) time(at time.Time) string {
	if s.span == account.LastMinute {
		return at.In(s.look.Location).Format("15:04:05")
	}
	return at.In(s.look.Location).Format("15:04")
}

func aSample(span account.Span) string {
	return [...]string{"a second", "a minute", "an hour"}[span]
}

// agentsChart shows how many agents were placing orders.
func (s *spending) agentsChart(w, h int) *chart {
	t := axisOf(s.span, s.look.Now, w-scaleWidth)
	c := s.chartOf("agents at work", &t, w, h)
	l := s.limit(account.LimitAgents)
	if l == nil || l.Used.Grounds == account.NotKnown {
		c.empty = "not read yet"
		return c
	}
	if l.Limit.Grounds != account.NotKnown {
		c.limit = l.Limit.N
		c.note, c.noteStyle = "limit "+sign.Grounds(l.Limit.Grounds)+wording.Count(l.Limit.N), paint.Muted
	}
	for _, level := range l.Over(s.span) {
		t.fill(c.bars, level.At, bar{known: true, parts: []part{{float64(level.Used), solid, paint.Placing}}})
	}
	return c
}

// burnDown shows what was left of the day's intents and, at the recent pace, what will be.
func (s *spending) burnDown(w, h int) *chart {
	span := s.span
	cells := w - scaleWidth
	ahead := 0
	if span != account.LastMinute {
		ahead = cells / 4
	}
	t := axisOf(span, s.look.Now, cells-ahead)
	c := s.chartOf("left of the day's intents", &t, w, h)
	l := s.limit(account.LimitDay)
	switch {
	case l == nil || l.Used.Grounds == account.NotKnown:
		c.empty = "not read yet"
		return c
	case l.Limit.Grounds == account.NotKnown:
		c.empty = "the limit is not known"
		return c
	}
	c.limit, c.whole = l.Limit.N, true
	for _, level := range l.Over(span) {
		left := l.Limit.N - level.Used
		t.fill(c.bars, level.At, bar{known: true, parts: []part{{float64(max(left, 0)), solid, leftStyle(int64(left), int64(l.Limit.N))}}})
	}
	c.note, c.noteStyle = s.dayNote(l)
	if ahead > 0 {
		s.forecast(c, l, &t, ahead)
	}
	return c
}

// dayNote says when the day's intents run out, when they return, or their limit.
func (s *spending) dayNote(l *account.Limit) (string, paint.Style) {
	switch {
	case !l.RunsOut.IsZero():
		return s.look.runsOut(l.RunsOut), paint.Warning
	case l.Left().N == 0 && !l.Returns.IsZero():
		return "back " + s.look.moment(l.Returns), paint.Bad
	}
	return "limit " + sign.Grounds(l.Limit.Grounds) + wording.Count(l.Limit.N), paint.Muted
}

// forecast adds bars from now on at the recent pace, until nothing is left.
func (s *spending) forecast(c *chart, l *account.Limit, t *axis, ahead int) {
	c.mid, c.midAt, c.to = "now", t.cells, s.time(t.now.Add(time.Duration(ahead*t.samples)*t.share/time.Duration(t.cells)))
	left := float64(l.Left().N)
	over := false
	for i := range ahead {
		after := time.Duration((i+1)*t.samples) * t.share / time.Duration(t.cells)
		rest := math.Ceil(left - l.Pace*after.Hours())
		col := bar{known: true}
		if rest > 0 {
			col.parts = []part{{rest, sign.Rest().Glyph, paint.Muted}}
		}
		col.marked = rest <= 0 && !over && l.Pace > 0
		over = over || rest <= 0
		c.bars = append(c.bars, col)
	}
}
