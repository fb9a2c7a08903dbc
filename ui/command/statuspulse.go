package command

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// pulseReport is how the day goes. What is null is not known.
type pulseReport struct {
	KnownSince *time.Time     `json:"known_since"` // what happened before is not known
	Today      *dayPulse      `json:"today"`       // since midnight, where this runs
	ByNow      *dayPulse      `json:"yesterday_by_now"`
	Yesterday  *dayPulse      `json:"yesterday"`
	Week       *dayPulse      `json:"seven_days_before"`
	Awaiting   *valueReport   `json:"awaiting"`
	Hour       []account.Beat `json:"hour,omitempty"` // by the minute, the oldest first
	Day        []account.Beat `json:"day,omitempty"`  // by the quarter of an hour, likewise

	pulse account.Pulse
}

// dayPulse is what became of intents in a day.
type dayPulse struct {
	From           time.Time   `json:"from"` // of what is known of it
	To             time.Time   `json:"to"`
	Created        int         `json:"created"`
	Failed         int         `json:"failed"` // but for those that expired
	Expired        int         `json:"expired"`
	Completed      valueReport `json:"completed"`
	CompletionRate *float64    `json:"completion_rate"` // of those that ended; null where none did
	Offer          *paceReport `json:"offer"`           // from the creation; null where none is known
	Order          *paceReport `json:"order"`           // from the confirm, likewise
}

// valueReport is so many intents and what they come to.
type valueReport struct {
	Count    int            `json:"count"`
	Totals   []*moneyReport `json:"totals"`         // by currency
	Unpriced int            `json:"unknown_totals"` // of so many of them the total is not known
}

func pulseOf(picture *account.Changes, settled bool, now time.Time) pulseReport {
	p := account.PulseOf(slices.Values(picture.Intents), picture.Summary.Known, now)
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
		From: d.From.UTC(), To: d.To.UTC(), Created: d.Created, Failed: d.Failed, Expired: d.Expired,
		Completed: valueOf(d.Completed, d.Value, d.Unpriced), Offer: paceReportOf(d.Offer), Order: paceReportOf(d.Order),
	}
	if share, ended := d.CompletionRate(); ended {
		r.CompletionRate = new(rounded(share))
	}
	return r
}

func valueOf(n int, totals []api.Money, unpriced int) valueReport {
	r := valueReport{Count: n, Totals: []*moneyReport{}, Unpriced: unpriced}
	for i := range totals {
		r.Totals = append(r.Totals, moneyOf(&totals[i]))
	}
	return r
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
	Of         string                `json:"of"`        // own: of tillwatch; others: those that a proxy saw
	SinceS     float64               `json:"since_s"`   // of the last hour so much is known
	LastHour   *paceReport           `json:"last_hour"` // null where none was answered
	Unanswered int                   `json:"unanswered"`
	Days       int                   `json:"days"`        // of the seven before this one, of so many something is known
	DaysBefore *paceReport           `json:"days_before"` // null where none is
	Buckets    []latencyBucketReport `json:"buckets,omitempty"`

	latency account.Latency
}

// latencyBucketReport is how many answers took no longer than that, and longer than
// the bucket before.
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
