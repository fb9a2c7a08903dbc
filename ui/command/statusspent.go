package command

import (
	"fmt"
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

// spentReport is what was spent of a bucket in a span. What others spent is inferred:
// at least that much.
type spentReport struct {
	Own      int `json:"own"`
	Others   int `json:"others"`
	Rejected int `json:"rejected"`
}

func spentOf(samples []quota.Sample) spentReport {
	var r spentReport
	r.Own, r.Others, r.Rejected = quota.Sum(samples)
	return r
}

// spansReport is the spending over the last minute, hour and day.
type spansReport struct {
	Minute spentReport `json:"minute"`
	Hour   spentReport `json:"hour"`
	Day    spentReport `json:"day"`
}

// historyReport is a bucket's history, oldest first. Remaining is the least that was
// reported in a step; null for none.
type historyReport struct {
	From      time.Time `json:"from"`
	StepS     float64   `json:"step_s"`
	Own       []int     `json:"own"`
	Others    []int     `json:"others"`
	Rejected  []int     `json:"rejected"`
	Remaining []*int64  `json:"remaining"`
}

func historyOf(samples []quota.Sample) *historyReport {
	if len(samples) < 2 {
		return nil
	}
	r := &historyReport{From: samples[0].At.UTC(), StepS: samples[1].At.Sub(samples[0].At).Seconds()}
	for _, s := range samples {
		r.Own, r.Others, r.Rejected = append(r.Own, s.Own), append(r.Others, s.Others), append(r.Rejected, s.Rejected)
		var remaining *int64
		if s.Known {
			remaining = &s.Remaining
		}
		r.Remaining = append(r.Remaining, remaining)
	}
	return r
}

// coursesReport is a bucket's history over the last minute, hour and day.
type coursesReport struct {
	Minute *historyReport `json:"minute"`
	Hour   *historyReport `json:"hour"`
	Day    *historyReport `json:"day"`
}

func coursesOf(b quota.Bucket) *coursesReport {
	return &coursesReport{historyOf(b.History), historyOf(b.Hour), historyOf(b.Day)}
}

// dayReport is the day's count of intents: a lower bound, and what the service
// reported.
type dayReport struct {
	limitReport
	Assumed      bool     `json:"assumed"`    // the limit is the configured one, and nothing contradicts it
	Calendar     bool     `json:"calendar"`   // a day is a calendar day in UTC; otherwise the last 24 hours
	Seen         int      `json:"seen"`       // created within 24 hours
	SeenToday    int      `json:"seen_today"` // created since midnight UTC
	Told         bool     `json:"told"`
	Left         *int     `json:"left"`            // reported by the service
	ResetsInS    *float64 `json:"resets_in_s"`     // reported by the service
	ExhaustedInS *float64 `json:"exhausted_in_s"`  // at the pace of the last hour; null if not in sight
	SpentForS    *float64 `json:"spent_for_s"`     // since none is left; null otherwise
	FirstBackInS *float64 `json:"first_back_in_s"` // until the first is back, at the latest; null otherwise

	doubt string
}

func dayOf(d account.DayCount, now time.Time) dayReport {
	r := dayReport{
		limitReport: limitOf(d.Used(), d.Limit), Assumed: d.Assumed, Calendar: d.Calendar, Seen: d.Seen, SeenToday: d.Today, doubt: d.Doubt(), Told: d.Told,
		ExhaustedInS: forecastOf(d.Exhausted), SpentForS: age(now, d.Spent), FirstBackInS: until(now, d.Free),
	}
	if d.Told {
		r.Left, r.ResetsInS = &d.Left, until(now, d.Resets)
	}
	return r
}

// forecastOf is a forecast in seconds; nil for none.
func forecastOf(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	seconds := rounded(d.Seconds())
	return &seconds
}

// text is what is left of the bucket.
func (q quotaReport) text() string {
	return fmt.Sprintf("%-10s %s left%s, own %.1f/s, others %.1f/s", q.Class, q.left(), q.window(), q.Own, q.Others)
}

// left is what is left of the limit, as far as answers reported either.
func (q quotaReport) left() string {
	switch {
	case q.Limit == nil:
		return orUnknown(q.Remaining)
	case q.Remaining == nil:
		return "unknown of " + orUnknown(q.Limit)
	}
	return orUnknown(q.Remaining) + " of " + orUnknown(q.Limit)
}

func (q quotaReport) window() string {
	if q.WindowS == nil {
		return ""
	}
	return fmt.Sprintf(" in %gs", *q.WindowS)
}

// spentText is what was spent of it over longer spans.
func (q quotaReport) spentText() string {
	var spans []string
	if q.ExhaustedInS != nil {
		spans = append(spans, "used up"+soon(*q.ExhaustedInS))
	}
	for _, span := range []struct {
		name string
		spentReport
	}{{"last hour", q.Spent.Hour}, {"day", q.Spent.Day}} {
		part := fmt.Sprintf("%s: own %s, others %s", span.name, wording.Count(span.Own), wording.Count(span.Others))
		if span.Rejected > 0 {
			part += fmt.Sprintf(", %s refused", wording.Count(span.Rejected))
		}
		spans = append(spans, part)
	}
	return strings.Join(spans, "; ")
}

func soon(seconds float64) string {
	if seconds < 1 {
		return ""
	}
	return " in " + duration(seconds)
}

func (d dayReport) text() string {
	text := d.limitReport.text("made")
	text += d.doubt
	if d.Told {
		text += fmt.Sprintf("; %s left, reset in %s", orUnknown(d.Left), duration(*d.ResetsInS))
	}
	switch {
	case d.SpentForS != nil:
		text += fmt.Sprintf("; used up for %s, the first is back within %s", duration(*d.SpentForS), duration(*d.FirstBackInS))
	case d.ExhaustedInS != nil:
		text += "; used up" + soon(*d.ExhaustedInS)
	}
	return text
}
