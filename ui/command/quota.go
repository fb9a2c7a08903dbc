package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

func newQuota() *cobra.Command {
	var follow bool
	var wait time.Duration
	command := &cobra.Command{
		Use:   "quota",
		Short: "Print how much of the quota is used, by whom, and when it runs out",
		Long: "Print how much of each limit is used, by whom, and when it runs out at the pace of the last 15 minutes.\n\n" +
			"Figures from the service's headers, tillwatch's own or seen by a proxy, are printed as they are. \"At least\" marks a count, " +
			"\"(assumed)\" a limit that no header has reported. The rest, which no proxy saw, is inferred: at least about that much.",
		Example: "tillwatch quota\ntillwatch quota --follow\ntillwatch quota --json | jq '.limits[] | select(.name == \"day\")'",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			var failed error
			err := withSettled(ctx, s, "", std, wait, func(ctx context.Context, current *session.Session) error {
				failed = takeSnapshot(current, time.Now(), nil).failure()
				return printQuota(ctx, current.Store, failed, follow, std)
			})
			if err == nil && !follow {
				err = failed
			}
			return nil, err
		}),
	}
	flags := command.Flags()
	accountFlags(flags)
	jsonFlag(flags, "print JSON objects, as in the lines of a recording")
	flags.BoolVarP(&follow, "follow", "f", false, "print changes, at most once a second, until ctrl-c")
	flags.DurationVar(&wait, "wait", 10*time.Second, "how long to wait for a settled picture")
	return command
}

// quotaChange is how the quota has changed since the last look. Its JSON is a frame of a recording.
type quotaChange struct {
	*account.Frame
	shown string
}

func (q quotaChange) text() string { return q.shown }

// printQuota prints the quota once and, with follow, its changes until ctx ends. failure says why it
// may not be current; nil: it is.
func printQuota(ctx context.Context, store *account.Store, failure error, follow bool, std streams) error {
	var frames account.FrameWriter
	for last, first := "", true; ; first = false {
		c := store.Changes(0)
		shown, line := "", quotaLine(&c.Summary)
		switch {
		case first:
			if shown = quotaText(&c.Summary, c.At); failure != nil {
				shown = fmt.Sprintf("not current, last read %s: %v\n\n", ago(c.At, c.Summary.LastRead), failure) + shown
			}
		case line != last:
			shown = c.At.Format(time.TimeOnly) + "  " + line + "\n"
		}
		last = line
		frames.Put = func(f *account.Frame) error { return std.print(quotaChange{f, shown}) }
		if err := frames.WriteQuota(&c.Summary, c.At, first); err != nil || !follow {
			return err
		}
		if api.Sleep(ctx, time.Second) != nil {
			return nil
		}
	}
}

// quotaLine is how much of each limit is used.
func quotaLine(sum *account.Summary) string {
	var parts []string
	for i := range sum.Limits {
		parts = append(parts, fmt.Sprintf("%s %s", sum.Limits[i].Name, wording.Used(&sum.Limits[i])))
	}
	return strings.Join(parts, "  ")
}

// quotaText is the quota for people: limits with their forecasts, spenders.
func quotaText(sum *account.Summary, now time.Time) string {
	var limits []fact
	for i := range sum.Limits {
		limits = append(limits, fact{string(sum.Limits[i].Name), limitText(&sum.Limits[i], now)})
	}
	rows := [][]string{{"SPENDER, LAST HOUR", "REQUESTS", "SHARE", "REFUSED", "ERRORS", "P95 OF THE SLOWEST ENDPOINT"}}
	for _, s := range spendersOf(sum.Spenders) {
		p95 := "–"
		if s.slowest > 0 {
			p95 = wording.Took(s.slowest)
		}
		rows = append(rows, []string{s.name, wording.Count(s.Requests), wording.Percent(s.share), wording.Count(s.Refused),
			wording.Count(s.Errors), p95})
	}
	text := sheet(limits...) + "\n" + table(rows...)
	if since := wording.ObservedSince(sum.Feed.ObservedSince, sum.Spenders, account.LastHour, now, time.Local); since != "" {
		text += since + ": earlier requests of others may be missing\n"
	}
	return text
}

func limitText(l *account.Limit, now time.Time) string {
	text := wording.Used(l) + " used"
	switch left := l.Left(); {
	case left.Grounds == account.NotKnown:
	case l.Used.Grounds == account.Told:
		text += fmt.Sprintf(", %s left", wording.Count(left.N))
	default: // there may be more that nobody counted
		text += fmt.Sprintf(", at most %s left", wording.Count(left.N))
	}
	if l.Window > 0 && l.Window < time.Hour {
		text += " in " + api.Span(l.Window)
	}
	if forecast := wording.Forecast(l, now, time.Local); forecast != "" {
		text += "; " + forecast
	}
	return text
}

// spending is what one spender spent in the last hour. The rest's is inferred: at least about that
// much.
type spending struct {
	account.Tally // of all classes
	name          string
	share         float64 // of all requests
	slowest       time.Duration
}

// spendersOf are the spenders of the last hour, highest first.
func spendersOf(spenders []account.Spender) []spending {
	var found []spending
	all := 0
	for i := range spenders {
		s := &spenders[i]
		one := spending{Tally: account.Total(s.Over(account.LastHour, "")), name: wording.Spender(s)}
		if one.Requests == 0 {
			continue
		}
		all += one.Requests
		for j := range s.Uses {
			one.slowest = max(one.slowest, s.Uses[j].P95)
		}
		found = append(found, one)
	}
	for i := range found {
		found[i].share = float64(found[i].Requests) / float64(all)
	}
	slices.SortStableFunc(found, func(a, b spending) int { return cmp.Compare(b.Requests, a.Requests) })
	return found
}
