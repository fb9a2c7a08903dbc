package command

import (
	"fmt"
	"math"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// String is the report for people, one subject per line.
func (r report) String() string {
	var b sheetWriter
	line := func(subject, format string, args ...any) {
		b.wrapped(fmt.Sprintf("%-*s", sheetLabel, subject), fmt.Sprintf(format, args...))
	}
	line("environment", "%s", r.Environment)
	if r.Filter != "" {
		line("filter", "%s: only matching intents, with their shipments, alerts and pulse", r.Filter)
	}
	line("api", "%s%s", r.API.State, detail(r.API.Error, "last read "+ago(r.API.LastReadAgeS)))
	line("relay", "%s%s", r.Relay.State, detail(r.Relay.Error, r.Relay.place()+"last event "+ago(r.Relay.LastEventAgeS)))
	line("intents", "%s", countsText(r.Intents, asStrings(api.IntentStates()), []string{"other", notRead}))
	if r.LetGo > 0 {
		line("", "%s older ones are not kept", wording.Count(r.LetGo))
	}
	statuses := api.ShipmentStatuses()
	for status := range r.Shipments {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses[len(api.ShipmentStatuses()):])
	line("shipments", "%s", countsText(r.Shipments, nil, statuses))
	for _, q := range r.Quota {
		line("quota", "%s", q.text())
		line("", "%s", q.spentText())
	}
	for _, l := range r.Limits {
		if l.RunsOut != nil {
			line("limit", "%s: %s", l.Name, l.text)
		}
	}
	for _, s := range r.Spenders {
		line("spender", "%s", s.text())
	}
	observed := slices.ContainsFunc(r.Spenders, func(s spenderReport) bool { return s.Kind == account.SpenderObserved })
	if s := r.Relay.ObservedS; s != nil && *s < time.Hour.Seconds() && observed {
		line("spenders", "observed for %s: earlier requests of others may be missing", wording.Lasting(time.Duration(*s*float64(time.Second))))
	}
	line("today", "%s", r.Today.text())
	line("agents", "%s", r.Agents.text("placing"))
	r.pulseLines(line)
	line("events", "%s received, %s doubled, %s late, %s missed, %s backfilled",
		wording.Count(r.Events.Received), wording.Count(r.Events.Duplicate), wording.Count(r.Events.Late), orUnknown(r.Events.Missed), wording.Count(r.Events.Backfilled))
	for _, m := range r.Missing {
		line("missing", "%s", m.text())
	}
	for _, a := range r.Alerts {
		due := ""
		if a.DueInS != nil {
			due = " within " + duration(*a.DueInS)
		}
		line("alert", "%s%s", a.Text, due)
	}
	return b.String()
}

// pulseLines say how the day is going, and whether the service is slow.
func (r report) pulseLines(line func(subject, format string, args ...any)) {
	p := &r.Pulse.pulse
	line("pulse", "%s", wording.Day(p))
	awaiting := "unknown"
	if r.Pulse.Awaiting != nil {
		awaiting = wording.Awaited(p)
	}
	line("awaiting", "%s", awaiting)
	line("to an offer", "%s", wording.Times(p.Today.Offer, p.Before.Offer, p.Week.Offer))
	line("to an order", "%s", wording.Times(p.Today.Order, p.Before.Order, p.Week.Order))
	for i := range r.Latency {
		l := &r.Latency[i].latency
		line("latency", "%s %s", wording.LatencyOf(l), wording.Latency(l, r.At))
	}
}

func detail(err, otherwise string) string {
	if err != "" {
		return ": " + err
	}
	return ", " + otherwise
}

func ago(seconds *float64) string {
	if seconds == nil {
		return "never"
	}
	return duration(*seconds) + " ago"
}

func duration(seconds float64) string {
	return api.Span(time.Duration(seconds * float64(time.Second)))
}

// age is how many seconds ago t was; nil if never.
func age(now, t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	seconds := rounded(max(0, now.Sub(t).Seconds()))
	return &seconds
}

// until is how many seconds there are until t; nil if t is unknown.
func until(now, t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	return age(t, now)
}

func rounded(f float64) float64 { return math.Round(f*100) / 100 }

// lost is how many sequence numbers a gap skipped.
func lost(f account.FeedStatus) int64 {
	if f.LostFrom == 0 {
		return 0
	}
	return f.LostTo - f.LostFrom + 1
}

// place is where the relay's stream stands.
func (r relayReport) place() string {
	if r.Head == nil {
		return ""
	}
	return fmt.Sprintf("at %s of %s, ", orUnknown(r.Cursor), orUnknown(r.Head))
}

// oneLine is the report in one line, for a scrolling terminal.
func (r report) oneLine(now time.Time) string {
	shipments := 0
	for _, n := range r.Shipments {
		if n != nil {
			shipments += *n
		}
	}
	left := "unknown"
	for _, q := range r.Quota {
		if q.Class == "reads" {
			left = q.left()
		}
	}
	of := func(state api.IntentState) string { return orUnknown(r.Intents[string(state)]) }
	return fmt.Sprintf("%s  relay %s  %s retrieving  %s awaiting  %s placing  %s completed  %s failed  %s shipments  %s events  reads left %s",
		now.Format(time.TimeOnly), r.Relay.State, of(api.RetrievingOffer), of(api.AwaitingConfirmation), of(api.PlacingOrder),
		of(api.Completed), of(api.Failed), orUnknown(known(shipments, r.Settled)), wording.Count(r.Events.Received), left)
}
