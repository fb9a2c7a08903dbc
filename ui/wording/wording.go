// Package wording writes counts, durations and names for people, the same on the
// board, in plain lines and in notifications.
package wording

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Count writes a number with commas between thousands: 1,042.
func Count(n int) string {
	s := strconv.Itoa(n)
	if -1000 < n && n < 1000 {
		return s
	}
	return api.Grouped(s)
}

// Counted is a count with what is counted: "1 intent", "1,042 intents".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Late says by how many days something is late; "" for none.
func Late(days int) string {
	if days <= 0 {
		return ""
	}
	return Counted(days, "day", "days") + " late"
}

// Age writes an age, or the time left to act, in its greatest unit: 4s, 38m, 5h, 12d.
// It is rounded down: the time lasts at least as long.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return Count(int(d/(24*time.Hour))) + "d"
}

// Until is [Age] for the time until something comes, rounded up: it has come by then.
func Until(d time.Duration) string {
	unit := time.Second
	switch {
	case d > 47*time.Hour:
		unit = 24 * time.Hour
	case d > 59*time.Minute:
		unit = time.Hour
	case d > 59*time.Second:
		unit = time.Minute
	}
	return Age((d + unit - 1).Truncate(unit))
}

// Countdown counts the seconds that are left, rounded up: 1m12s, and the last one as 1s.
func Countdown(left time.Duration) string {
	return api.Span((max(left, 0) + time.Second - 1).Truncate(time.Second))
}

// By is [Moment] for what has come by then, rounded up.
func By(at, now time.Time, where *time.Location) string {
	return "by " + Moment(at.Add(time.Minute-1), now, where)
}

// Within says how far away an alert's end is, after a blank; "" if it has none. The end is
// the time left to act, except with the day's intents: there it is when they return.
func Within(a *account.Alert, now time.Time) string {
	left := a.Due.Sub(now)
	switch {
	case a.Due.IsZero():
		return ""
	case a.Kind == account.AlertDay:
		return " within " + Until(left)
	}
	return " within " + Age(left)
}

// Due is [Within], with the time on the clock for the return of the day's intents.
func Due(a *account.Alert, now time.Time, where *time.Location) string {
	if a.Kind == account.AlertDay && !a.Due.IsZero() {
		return " " + By(a.Due, now, where)
	}
	return Within(a, now)
}

// Moment is a time on the clock, with the date if it is a day or more away.
func Moment(at, now time.Time, where *time.Location) string {
	if now.Sub(at).Abs() < 24*time.Hour {
		return at.In(where).Format("15:04")
	}
	return at.In(where).Format("Jan 2 15:04")
}

// Amount is [api.Money.Readable] for an amount as [api.Money.String] writes it. Any other
// text stays as it is.
func Amount(written string) string {
	money, err := api.ParseMoney(written)
	if err != nil {
		return written
	}
	return money.Readable()
}

// Shipping names a shipping option and when the order comes by it; "" for none. day writes a day, "" if it is not known.
func Shipping(o api.ShippingOption, day func(time.Time) string) string {
	from, to := day(o.EarliestDelivery), day(o.LatestDelivery)
	when := from + " to " + strings.TrimPrefix(to, from[:strings.LastIndexByte(from, ' ')+1]) // "Nov 23 to 26"
	switch {
	case from == to:
		when = to
	case from == "":
		when = "by " + to
	case to == "":
		when = "from " + from
	}
	return strings.Trim(string(cmp.Or(o.Label, o.ID))+", "+when, ", ")
}

// Estimate is the day of an estimated time; "" if it is not known.
func Estimate(at time.Time, where *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return account.Estimate(at, where).Format("Jan 2")
}

// Name makes a name from the wire readable and safe to draw: "out_of_stock" becomes
// "out of stock".
func Name(onWire string) string {
	return strings.ReplaceAll(string(api.Scrub(onWire)), "_", " ")
}

// Failure says in a few words why an intent failed.
func Failure(f *api.FailureReason) string {
	if f == nil {
		return "reason unknown"
	}
	words := f.Code.Words()
	switch {
	case f.Message != "" && (words == "" || words == "unknown"):
		return string(f.Message)
	case words == "":
		return Failure(nil)
	}
	return words
}

// Because is the text of an error, safe to draw; "" for none.
func Because(err error) string {
	if err == nil {
		return ""
	}
	return string(api.Scrub(err.Error()))
}

// Path is a path with ~ for the user's home.
func Path(path string) string {
	home, err := os.UserHomeDir()
	if rest, within := strings.CutPrefix(path, home+string(os.PathSeparator)); err == nil && within {
		path = "~" + string(os.PathSeparator) + rest
	}
	return string(api.Scrub(path))
}

// Bytes is a number of bytes, in units of 1,000.
func Bytes(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// ConfirmEnd says what the outcome of a confirm means for the order.
func ConfirmEnd(end account.ConfirmEnd) string {
	switch end {
	case account.ConfirmPlaced:
		return "taken: the order is placed, or being placed"
	case account.ConfirmLate:
		return "it counted as without effect, but reads show an order now: it was held on its way, or somebody else confirmed it"
	case account.ConfirmFailed:
		return "it was taken, but the order failed"
	case account.ConfirmNotDone:
		return "not taken: nothing was bought"
	case account.ConfirmRefused:
		return "refused: nothing was bought"
	case account.ConfirmNotSent:
		return "not sent: nothing was bought"
	case account.ConfirmExpired:
		return "the intent ended without an order: nothing was bought"
	case account.ConfirmLost:
		return "its outcome will never be known here: ask the service"
	}
	return string(api.Scrub(string(end)))
}

// Reads says what the reads since a confirm show: "7 reads since show it awaiting confirmation".
func Reads(c *account.Confirm) string {
	if c.Reads == 0 {
		return "no read since has been answered"
	}
	shows := " reads since show it "
	if c.Reads == 1 {
		shows = " read since shows it "
	}
	state := Name(string(c.Shown))
	if state == "" {
		state = "without a state"
	}
	return Count(c.Reads) + shows + state
}

// Doubt says how a confirm stands that is or was in doubt.
func Doubt(c *account.Confirm) string {
	if c.Ended.IsZero() {
		return "the outcome of its confirm is unknown: do not buy it again"
	}
	return "its confirm is settled: " + ConfirmEnd(c.End)
}
