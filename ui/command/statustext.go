package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

// String is the report for people, one subject per line.
func (r report) String() string {
	var b sheetWriter
	line := func(subject, format string, args ...any) {
		b.wrapped(fmt.Sprintf("%-*s", sheetLabel, subject), fmt.Sprintf(format, args...))
	}
	s, now := &r.known, r.At
	line("environment", "%s", r.Environment)
	if r.Filter != "" {
		line("filter", "%s: only matching intents, with their shipments, alerts and pulse", r.Filter)
	}
	failure := s.API.Err // may be of long ago
	if s.API.State == account.APIHealthy {
		failure = nil
	}
	line("api", "%s%s", s.API.State, detail(failure, "last read "+ago(now, s.LastRead)))
	line("relay", "%s%s", s.Feed.State, detail(s.Feed.Err, r.Relay.place()+"last event "+ago(now, s.LastEvent)))
	line("intents", "%s", countsText(r.Intents, asStrings(api.IntentStates()), []string{"other", notRead}))
	if s.LetGo > 0 {
		line("", "%s older ones are not kept", wording.Count(s.LetGo))
	}
	statuses := api.ShipmentStatuses()
	for status := range r.Shipments {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses[len(api.ShipmentStatuses()):])
	line("shipments", "%s", countsText(r.Shipments, nil, statuses))
	r.quotaLines(line)
	line("today", "%s", dayText(&s.Day, now))
	line("agents", "%s", atLeast(s.Agents.Placing, s.Agents.Limit, "placing"))
	r.pulseLines(line)
	line("events", "%s received, %s doubled, %s late, %s missed, %s backfilled",
		wording.Count(r.Events.Received), wording.Count(r.Events.Duplicate), wording.Count(r.Events.Late), orUnknown(r.Events.Missed), wording.Count(r.Events.Backfilled))
	for _, m := range r.Missing {
		line("missing", "%s", m.text())
	}
	for _, a := range s.Alerts {
		line("alert", "%s%s", api.Scrub(a.Text), wording.Within(&a, now))
	}
	return b.String()
}

// quotaLines say what is left of the quota and who spends it.
func (r report) quotaLines(line func(subject, format string, args ...any)) {
	s := &r.known
	for i := range s.Quota {
		line("quota", "%s", bucketText(&s.Quota[i], r.At))
		line("", "%s", spentText(&s.Quota[i]))
	}
	for i := range s.Limits {
		if l := &s.Limits[i]; !l.RunsOut.IsZero() {
			line("limit", "%s: %s", l.Name, limitText(l, r.At))
		}
	}
	for _, spent := range spendersOf(s.Spenders) {
		line("spender", "%s", spent.text())
	}
	if wording.ObservedSince(s.Feed.ObservedSince, s.Spenders, account.LastHour, r.At, time.Local) != "" {
		line("spenders", "observed for %s: earlier requests of others may be missing", wording.Age(r.At.Sub(s.Feed.ObservedSince)))
	}
}

// pulseLines say how the day is going, and whether the service is slow.
func (r report) pulseLines(line func(subject, format string, args ...any)) {
	p := &r.pulse
	line("pulse", "%s", wording.Day(p))
	awaiting := "unknown"
	if p.Waiting > 0 || r.Settled {
		awaiting = wording.Awaited(p)
	}
	line("awaiting", "%s", awaiting)
	line("to an offer", "%s", wording.Times(p.Today.Offer, p.Before.Offer, p.Week.Offer))
	line("to an order", "%s", wording.Times(p.Today.Order, p.Before.Order, p.Week.Order))
	for i := range r.known.Latency {
		l := &r.known.Latency[i]
		line("latency", "%s %s", wording.LatencyOf(l), wording.Latency(l, r.At))
	}
}

// bucketText is what is left of a bucket, and how fast it is spent.
func bucketText(b *quota.Bucket, now time.Time) string {
	window := ""
	if b.Limit > 0 {
		window = " in " + api.Span(b.Window)
	}
	return fmt.Sprintf("%-10s %s left%s, own %.1f/s, others %.1f/s", b.Class, leftText(b, now), window, b.Own, b.Others)
}

// leftText is what is left of the limit, as far as answers reported either.
func leftText(b *quota.Bucket, now time.Time) string {
	left := "unknown"
	if !b.Unreported {
		left = wording.Count(int(b.Left(now)))
		if b.Over(now) {
			left = "at most " + left
		}
	}
	if b.Limit > 0 {
		left += " of " + wording.Count(int(b.Limit))
	}
	return left
}

// spentText is what was spent of a bucket over longer spans.
func spentText(b *quota.Bucket) string {
	var spans []string
	if b.Exhausted > 0 {
		spans = append(spans, "used up"+soon(b.Exhausted))
	}
	for _, span := range []struct {
		name    string
		samples []quota.Sample
	}{{"last hour", b.Hour}, {"day", b.Day}} {
		own, others, refused := quota.Sum(span.samples)
		part := fmt.Sprintf("%s: own %s, others %s", span.name, wording.Count(own), wording.Count(others))
		if refused > 0 {
			part += fmt.Sprintf(", %s refused", wording.Count(refused))
		}
		spans = append(spans, part)
	}
	return strings.Join(spans, "; ")
}

// dayText is how many of the day's intents are used.
func dayText(d *account.DayCount, now time.Time) string {
	text := atLeast(d.Used(), d.Limit, "made") + d.Doubt()
	if d.Told {
		text += fmt.Sprintf("; %s left, reset in %s", wording.Count(d.Left), wording.Until(d.Resets.Sub(now)))
	}
	switch {
	case !d.Spent.IsZero():
		text += fmt.Sprintf("; used up for %s, the first is back within %s", span(d.Spent, now), wording.Until(d.Free.Sub(now)))
	case d.Exhausted > 0:
		text += "; used up" + soon(d.Exhausted)
	}
	return text
}

// atLeast is a lower bound of a count, and its limit; 0 while that is unknown.
func atLeast(n, limit int, what string) string {
	if limit == 0 {
		return fmt.Sprintf("at least %s %s, limit unknown", wording.Count(n), what)
	}
	return fmt.Sprintf("at least %s of %s %s", wording.Count(n), wording.Count(limit), what)
}

func detail(err error, otherwise string) string {
	if err != nil {
		return ": " + wording.Because(err)
	}
	return ", " + otherwise
}

func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return span(t, now) + " ago"
}

// span is how long it is from one time to another; 0s if that is over.
func span(from, to time.Time) string { return wording.Age(to.Sub(from)) }

func soon(in time.Duration) string {
	if in < time.Second {
		return ""
	}
	return " in " + wording.Age(in)
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
	for i := range r.known.Quota {
		if b := &r.known.Quota[i]; b.Class == quota.Reads {
			left = leftText(b, now)
		}
	}
	of := func(state api.IntentState) string { return orUnknown(r.Intents[string(state)]) }
	return fmt.Sprintf("%s  relay %s  %s retrieving  %s awaiting  %s placing  %s completed  %s failed  %s shipments  %s events  reads left %s",
		now.Format(time.TimeOnly), r.Relay.State, of(api.RetrievingOffer), of(api.AwaitingConfirmation), of(api.PlacingOrder),
		of(api.Completed), of(api.Failed), orUnknown(known(shipments, r.Settled)), wording.Count(r.Events.Received), left)
}
