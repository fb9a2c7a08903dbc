package wording

import (
	"fmt"
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
		text += fmt.Sprintf("%s of %s completed (%s)", Count(d.Completed), Count(d.Ended()), percent(share))
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
		return text + percent(share) + " of " + Count(d.Ended())
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

// percent rounds, but never to 0 or 100 what is neither.
func percent(share float64) string {
	switch n := int(share*100 + 0.5); {
	case n == 100 && share < 1:
		return "99 %"
	case n == 0 && share > 0:
		return "1 %"
	default:
		return strconv.Itoa(n) + " %"
	}
}
