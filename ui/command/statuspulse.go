package command

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// pulseReport is how the day is going. Null means not known.
type pulseReport struct {
	KnownSince *time.Time     `json:"known_since"` // earlier events are not known
	Today      *dayPulse      `json:"today"`       // since local midnight
	ByNow      *dayPulse      `json:"yesterday_by_now"`
	Yesterday  *dayPulse      `json:"yesterday"`
	Week       *dayPulse      `json:"seven_days_before"`
	Awaiting   *valueReport   `json:"awaiting"`
	Hour       []account.Beat `json:"hour,omitempty"` // by minute, oldest first
	Day        []account.Beat `json:"day,omitempty"`  // by quarter of an hour, oldest first

	pulse account.Pulse
}

// dayPulse is how a day's intents ended.
type dayPulse struct {
	From           time.Time   `json:"from"` // start of what is known
	To             time.Time   `json:"to"`
	Created        int         `json:"created"`
	Failed         int         `json:"failed"` // without expired ones
	Expired        int         `json:"expired"`
	Completed      valueReport `json:"completed"`
	AtLeast        bool        `json:"at_least"`        // more may have ended: nobody saw when, or events were lost
	CompletionRate *float64    `json:"completion_rate"` // of ended intents; null if none ended
	Offer          *paceReport `json:"offer"`           // since creation; null if none is known
	Order          *paceReport `json:"order"`           // since the confirm; null if none is known
}

// valueReport is a number of intents and their value.
type valueReport struct {
	Count    int         `json:"count"`
	Totals   []api.Money `json:"totals"`         // by currency
	Unpriced int         `json:"unknown_totals"` // intents without a known total
}

func pulseOf(picture *account.Changes, settled bool, now time.Time) pulseReport {
	p := account.PulseOf(slices.Values(picture.Intents), &picture.Summary, now)
	r := pulseReport{
		Today: dayPulseOf(&p.Today), ByNow: dayPulseOf(&p.ByNow), Yesterday: dayPulseOf(&p.Before), Week: dayPulseOf(&p.Week),
		pulse: p,
	}
	if p.Waiting > 0 || settled {
		r.Awaiting = new(valueOf(p.Waiting, p.Awaiting, p.Unpriced))
	}
	if !p.Known.IsZero() {
		r.KnownSince = new(p.Known.UTC())
	}
	return r
}

func dayPulseOf(d *account.DayPulse) *dayPulse {
	if !d.Known() {
		return nil
	}
	r := &dayPulse{
		From: d.From.UTC(), To: d.To.UTC(), Created: d.Created, Failed: d.Failed, Expired: d.Expired, AtLeast: d.More,
		Completed: valueOf(d.Completed, d.Value, d.Unpriced), Offer: paceReportOf(d.Offer), Order: paceReportOf(d.Order),
	}
	if share, ended := d.CompletionRate(); ended {
		r.CompletionRate = new(rounded(share))
	}
	return r
}

func valueOf(n int, totals []api.Money, unpriced int) valueReport {
	return valueReport{Count: n, Totals: append([]api.Money{}, totals...), Unpriced: unpriced}
}

func paceReportOf(p account.Pace) *paceReport {
	if p.Count == 0 {
		return nil
	}
	return &paceReport{p.Count, precise(p.P50), precise(p.P95)}
}

func precise(d time.Duration) float64 { return d.Round(100 * time.Microsecond).Seconds() }

// latencyReport is how long the service took to answer requests of one class.
type latencyReport struct {
	Class      string                `json:"class"`
	Of         string                `json:"of"`        // own: tillwatch's; others: those that a proxy saw
	SinceS     float64               `json:"since_s"`   // how much of the last hour is known
	LastHour   *paceReport           `json:"last_hour"` // null if none was answered
	Unanswered int                   `json:"unanswered"`
	Days       int                   `json:"days"`        // how many of the last seven have data
	DaysBefore *paceReport           `json:"days_before"` // null if there is none
	Buckets    []latencyBucketReport `json:"buckets,omitempty"`

	latency account.Latency
}

// latencyBucketReport counts answers up to this duration, and longer than the bucket
// before.
type latencyBucketReport struct {
	UpToS      float64 `json:"up_to_s"`
	LastHour   int     `json:"last_hour"`
	DaysBefore int     `json:"days_before"`
}

func latenciesOf(all []account.Latency, now time.Time) []latencyReport {
	reports := []latencyReport{}
	for _, l := range all {
		r := latencyReport{
			Class: string(l.Class), Of: "own", SinceS: rounded(now.Sub(l.Since).Seconds()), LastHour: paceReportOf(l.Recent), Unanswered: l.Unanswered,
			Days: l.Days, DaysBefore: paceReportOf(l.Past), latency: l,
		}
		if l.Others {
			r.Of = "others"
		}
		reports = append(reports, r)
	}
	return reports
}

// moment is t in UTC; nil if it is not known.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
