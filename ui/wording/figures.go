package wording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// Day says how the day goes: "since 00:00 61 of 69 completed (88 %) for 2,031.40 USD,
// 5 failed, 3 expired; yesterday by now 91 % of 74".
func Day(p *account.Pulse) string {
	d := &p.Today
	if !d.Known() {
		return "unknown"
	}
	text := "since " + clock(d.From, p) + " "
	share, ended := d.CompletionRate()
	if ended {
		if d.More {
			text += "at least "
		}
		text += fmt.Sprintf("%s of %s completed (%s)", Count(d.Completed), Count(d.Ended()), Percent(share))
	} else {
		text += "none is known to have ended"
	}
	if d.Completed > 0 {
		text += " for " + Sum(d.Value, d.Unpriced)
	}
	if d.Failed > 0 {
		text += fmt.Sprintf(", %s failed", Count(d.Failed))
	}
	if d.Expired > 0 {
		text += fmt.Sprintf(", %s expired", Count(d.Expired))
	}
	return text + "; " + yesterday(p)
}

// yesterday is the completion rate of yesterday until the same time of day, or "unknown".
func yesterday(p *account.Pulse) string {
	d := &p.ByNow
	text := "yesterday by now "
	if midnight := account.Midnight(p.At, -1); d.From.Sub(midnight) >= time.Minute && d.Known() {
		text += "from " + clock(d.From, p) + " "
	}
	switch share, ended := d.CompletionRate(); {
	case !d.Known():
		return text + "unknown"
	case !ended:
		return text + "none ended"
	default:
		return text + Percent(share) + " of " + Count(d.Ended())
	}
}

// Awaited is the value of what awaits a decision: "5 for 220.10 USD".
func Awaited(p *account.Pulse) string {
	if p.Waiting == 0 {
		return "none"
	}
	return Count(p.Waiting) + " for " + Sum(p.Awaiting, p.Unpriced)
}

// Sum lists totals by currency, and the number of items without a known total.
func Sum(totals []api.Money, unpriced int) string {
	var parts []string
	for _, m := range totals {
		parts = append(parts, m.Readable())
	}
	if unpriced > 0 {
		parts = append(parts, Counted(unpriced, "unknown total", "unknown totals"))
	}
	return strings.Join(parts, " + ")
}

// Times compares today's durations with yesterday's until the same time of day: "p50 14s,
// p95 41s (of 70); yesterday by now p50 12s, p95 35s (of 74)".
func Times(today, byNow account.Pace) string {
	text := pace(today)
	if byNow.Count > 0 {
		text += "; yesterday by now " + pace(byNow)
	}
	return text
}

// Latency says how long the service took to answer the newest requests.
func Latency(l *account.Latency) string {
	text := "none answered"
	if l.Recent.Count > 0 {
		text = pace(l.Recent)
	}
	if l.Unanswered > 0 {
		text += fmt.Sprintf(", %s unanswered", Count(l.Unanswered))
	}
	return text
}

// LatencyOf names the requests of a latency: "reads", "mutations of others".
func LatencyOf(l *account.Latency) string {
	name := string(l.Class)
	switch l.Class {
	case quota.Lookup:
		name = "lookups"
	case "":
		name = "other requests"
	}
	if l.Others {
		name += " of others"
	}
	return name
}

// pace is percentiles with the number of values: "p50 14s, p95 41s (of 70)".
func pace(p account.Pace) string {
	if p.Count == 0 {
		return "unknown"
	}
	return fmt.Sprintf("p50 %s, p95 %s (of %s)", Took(p.P50), Took(p.P95), Count(p.Count))
}

// Took writes how long something took, in about two digits: 82ms, 1.4s, 38s, 12m.
func Took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second-time.Millisecond/2:
		return strconv.Itoa(int(d.Round(time.Millisecond)/time.Millisecond)) + "ms"
	case d < 10*time.Second-50*time.Millisecond:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	}
	return Age(d.Round(time.Second))
}

func clock(at time.Time, p *account.Pulse) string { return at.In(p.At.Location()).Format("15:04") }

// Percent is a share in percent. It rounds, but never to 0 or 100 what is neither.
func Percent(share float64) string {
	switch n := int(share*100 + 0.5); {
	case n == 100 && share < 1:
		return "99 %"
	case n == 0 && share > 0:
		return "1 %"
	default:
		return strconv.Itoa(n) + " %"
	}
}

// Spender names who spends the quota, and for tillwatch itself the purpose.
func Spender(s *account.Spender) string {
	switch s.Kind {
	case account.SpenderOwn:
		return "tillwatch " + Purpose(s.Purpose)
	case account.SpenderObserved:
		return string(s.Name)
	case account.SpenderOthers:
		return "others, observed"
	}
	return "the rest, not observed"
}

// Purpose is what tillwatch sends a request for.
func Purpose(p quota.Priority) string {
	switch p {
	case quota.Person:
		return "person"
	case quota.Hint:
		return "event"
	case quota.Timer:
		return "timer"
	}
	return "reconcile"
}

// Used says how much of a limit is used, and how certain that is: "4 of 10", "at least
// 31 of 50 (assumed)".
func Used(l *account.Limit) string {
	used := "unknown"
	switch l.Used.Grounds {
	case account.Told:
		used = Count(l.Used.N)
	case account.NotKnown:
	default:
		used = "at least " + Count(l.Used.N)
	}
	return used + " of " + figure(l.Limit)
}

func figure(f account.Figure) string {
	switch f.Grounds {
	case account.NotKnown:
		return "an unknown limit"
	case account.Assumed:
		return Count(f.N) + " (assumed)"
	}
	return Count(f.N)
}

// Forecast is when a limit runs out, and when what is used of it comes back; "" when
// neither is in sight.
func Forecast(l *account.Limit, now time.Time, where *time.Location) string {
	var parts []string
	switch {
	case l.RunsOut.IsZero():
	case !l.RunsOut.After(now):
		parts = append(parts, "used up")
	default:
		parts = append(parts, fmt.Sprintf("at %s an hour used up at %s", Count(int(l.Pace+0.5)), Moment(l.RunsOut, now, where)))
	}
	if l.Window > time.Minute && l.Returns.After(now) {
		parts = append(parts, "slots return at "+Moment(l.Returns, now, where))
	}
	return strings.Join(parts, ", ")
}

// Holds says for what reads wait, and until when; "" without a bucket that they wait for.
func Holds(b *quota.Bucket, now time.Time, where *time.Location) string {
	if b == nil {
		return ""
	}
	wait := "for " + Until(b.Next.Sub(now))
	if b.Next.Sub(now) > time.Minute {
		wait = "until " + Moment(b.Next.Add(time.Minute-1), now, where)
	}
	name, left := "the quota", Count(int(b.Left(now)))
	if b.Policy != "" {
		name = strconv.Quote(string(api.Scrub(b.Policy)))
	}
	if b.Limit > 0 {
		left += " of " + Count(int(b.Limit))
	}
	switch {
	case b.Left(now) <= 0:
		return fmt.Sprintf("reads wait %s: %s is used up", wait, name)
	case b.Kept():
		return fmt.Sprintf("reads wait %s: of %s only %s are left, kept for checkouts", wait, name, left)
	}
	return fmt.Sprintf("reads wait %s: of %s %s are left, spread over its window", wait, name, left)
}

// ObservedSince says from when on the requests of a proxy's callers are known, if that
// is within the span: "observed since 14:02". It is "" if none are missing, or no proxy
// reports.
func ObservedSince(since time.Time, spenders []account.Spender, span account.Span, now time.Time, where *time.Location) string {
	begins := now.Add(-time.Duration(span.Length()) * span.Width())
	observed := slices.ContainsFunc(spenders, func(s account.Spender) bool { return s.Kind == account.SpenderObserved })
	if !observed || !since.After(begins) {
		return ""
	}
	return "observed since " + Moment(since, now, where)
}
