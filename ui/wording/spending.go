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
