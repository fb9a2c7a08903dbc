package pane

import (
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// runsOut says when a forecast reaches nothing left; "" if it does not.
func (l *Look) runsOut(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.Sub(l.Now) < time.Second:
		return "out now"
	}
	return "out " + l.moment(at)
}

// runsOut returns when a bucket runs out; zero if it does not.
func (p *Quota) runsOut(b *quota.Bucket) time.Time {
	if b.Over(p.look.Now) {
		return time.Time{} // a forecast goes with its window
	}
	if b.Exhausted > 0 {
		return p.look.Now.Add(b.Exhausted)
	}
	if l := p.spending.limit(account.LimitName(b.Class)); l != nil && l.Window == b.Window {
		return l.RunsOut
	}
	return time.Time{}
}

// dayRunsOut is the same for the day's intents.
func (p *Quota) dayRunsOut() time.Time {
	if l := p.spending.limit(account.LimitDay); l != nil {
		return l.RunsOut
	}
	if p.day.Exhausted > 0 {
		return p.look.Now.Add(p.day.Exhausted)
	}
	return time.Time{}
}

// historyColumns are the widths of the longer histories; 0 hides one.
type historyColumns struct{ hour, day int }

// The widths of the figures at the right of a history, and the least width of the hour.
const (
	spentWidth   = 9
	refusedWidth = 9
	leastHour    = 12
)

func (p *Quota) historyColumns(c quotaColumns) (h historyColumns) {
	room := p.w - 1 - c.name - 2*spentWidth - refusedWidth
	if room < leastHour {
		return h
	}
	h.hour = min(room, mostCells)
	if day := 24; room >= 2*day+2 {
		h.day = day
		h.hour = min(room-day-2, mostCells)
	}
	return h
}

// histories draws what was spent in the last hour and the last day, and by whom, below the
// gauges if there is room for all of them.
func (p *Quota) histories(c quotaColumns) {
	h := p.historyColumns(c)
	known := 0
	for i := range p.rows {
		if len(p.rows[i].Hour) > 0 {
			known++
		}
	}
	if h.hour == 0 || known == 0 || p.h-len(p.lines) < known+2 {
		return
	}
	p.push(p.start())
	l := p.start().Space(1).Fit(paint.Muted|paint.Bold, "SPENT", c.name).Fit(paint.Muted, "last hour", h.hour)
	if h.day > 0 {
		l.Space(2).Fit(paint.Muted, "last day", h.day)
	}
	l.To(p.w-2*spentWidth-refusedWidth).Right(paint.Muted, "own", spentWidth).Right(paint.Muted, "others", spentWidth).Right(paint.Muted, "refused", refusedWidth)
	p.push(l)
	for i := range p.rows {
		if b := &p.rows[i]; len(b.Hour) > 0 {
			p.history(b, c, h)
		}
	}
}

// history draws one bucket. Its figures are of the longest shown span; those of others are
// lower bounds.
func (p *Quota) history(b *quota.Bucket, c quotaColumns, h historyColumns) {
	l := p.start().Space(1).Fit(paint.Text, p.name(b, c.name-1), c.name)
	sparkline(l, b.Hour, peak(b.Hour), p.look.Now, time.Hour, h.hour)
	of := b.Hour
	if h.day > 0 {
		sparkline(l.Space(2), b.Day, peak(b.Day), p.look.Now, 24*time.Hour, h.day)
		if len(b.Day) > 0 {
			of = b.Day
		}
	}
	own, others, refused := quota.Sum(of)
	l.To(p.w-2*spentWidth-refusedWidth).Right(paint.Text, wording.Count(own), spentWidth)
	atLeast := "–"
	if others > 0 {
		atLeast = "≥" + wording.Count(others)
	}
	l.Right(paint.Text, atLeast, spentWidth)
	style := paint.Muted
	if refused > 0 {
		style = paint.Warning
	}
	p.push(l.Right(style, wording.Count(refused), refusedWidth))
}

// peak returns a little more than the most spent in a sample, so that the highest bar does not look full.
func peak(samples []quota.Sample) int64 {
	most := 0
	for i := range samples {
		most = max(most, samples[i].Own+samples[i].Others)
	}
	return int64(most) + 1
}
