package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

type quotaOptions struct {
	follow, json bool
	wait         time.Duration
}

func newQuota() *cobra.Command {
	o := quotaOptions{}
	command := &cobra.Command{
		Use:   "quota",
		Short: "Print how much of the quota is used, by whom, and when it runs out",
		Long: "Print how much of each limit is used, by whom, and when it runs out at the pace of the last 15 minutes.\n\n" +
			"Figures from the service's headers, tillwatch's own or seen by a proxy, are printed as they are. \"At least\" marks a count, " +
			"\"(assumed)\" a limit that no header has reported. The rest, which no proxy saw, is inferred: at least about that much.",
		Example: "tillwatch quota\ntillwatch quota --follow\ntillwatch quota --json | jq '.limits[] | select(.name == \"day\")'",
		Args:    noArguments,
		RunE: configured(func(c *cobra.Command, settings settings, _ []string) error {
			look := func(ctx context.Context, s *session) error { return s.printQuota(ctx, o, c.OutOrStdout()) }
			return withSettledPicture(c, settings, o.wait, look, func(s *session) error {
				if o.follow {
					return nil
				}
				return s.report(time.Now(), nil).failure()
			})
		}),
	}
	flags := command.Flags()
	accountFlags(flags)
	flags.BoolVarP(&o.follow, "follow", "f", false, "print changes, at most once a second, until ctrl-c")
	flags.BoolVar(&o.json, "json", false, "print JSON objects, as in the lines of a recording")
	flags.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait for a settled picture")
	return command
}

// printQuota prints the quota once and, with --follow, its changes.
func (s *session) printQuota(ctx context.Context, o quotaOptions, out io.Writer) error {
	var frames account.FrameWriter
	encoder := json.NewEncoder(out)
	frames.Put = func(f *account.Frame) error { return encoder.Encode(f) }
	for last, first := "", true; ; first = false {
		c := s.store.Changes(0)
		var err error
		switch now := quotaLine(&c.Summary); {
		case o.json:
			err = frames.WriteQuota(&c.Summary, c.At, first)
		case first:
			_, err = io.WriteString(out, staleness(&c.Summary, s.report(c.At, nil).failure())+quotaSheet(&c.Summary, c.At))
			last = now
		case now != last:
			_, err = fmt.Fprintf(out, "%s  %s\n", c.At.Format(time.TimeOnly), now)
			last = now
		}
		if readerLeft(err) {
			return nil
		}
		if err != nil || !o.follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
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

// staleness is the line above figures that are not current because the service or the relay
// refuses this client; "" if they are current. They are as old as the last answer, to a read
// or to somebody else's request.
func staleness(sum *account.Summary, failure error) string {
	if failure == nil {
		return ""
	}
	var observed time.Time
	for i := range sum.Spenders {
		if s := &sum.Spenders[i]; s.Kind == account.SpenderObserved && s.Last.After(observed) {
			observed = s.Last
		}
	}
	at := sum.LastRead
	if sum.Feed.State == account.FeedRefused && !observed.IsZero() {
		at = observed
	}
	switch {
	case at.IsZero() && !observed.IsZero():
		return fmt.Sprintf("known only from others' requests, the last at %s: %v\n", observed.Local().Format(time.DateTime), failure)
	case at.IsZero():
		return fmt.Sprintf("not current, nothing is known yet: %v\n", failure)
	}
	return fmt.Sprintf("not current, as of %s: %v\n", at.Local().Format(time.DateTime), failure)
}

// quotaSheet is the quota for people: limits, spenders, forecasts.
func quotaSheet(sum *account.Summary, now time.Time) string {
	var b sheetWriter
	for i := range sum.Limits {
		b.row(string(sum.Limits[i].Name), limitText(&sum.Limits[i], now))
	}
	b.line("", fmt.Sprintf("%-30s %9s %6s %6s %6s  %7s %7s %7s %8s", "spenders, last hour", "requests", "share", "429", "errors", "reads", "mutat.", "lookup", "p95"))
	lines := spenderLines(sum.Spenders)
	b.line(lines...)
	if len(lines) == 0 {
		b.line("nobody yet")
	} else {
		b.line("p95: of the last 256 answers of the slowest endpoint")
	}
	if since := wording.ObservedSince(sum.Feed.ObservedSince, sum.Spenders, account.LastHour, now, now.Location()); since != "" {
		b.line(since + ": earlier requests of others may be missing")
	}
	return b.String()
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

// spending is what one spender spent in the last hour. The rest's is inferred:
// at least about that much.
type spending struct {
	account.Tally // of all classes
	name          string
	share         float64 // of all requests
	classes       []int   // requests of each class
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
		for _, class := range quota.Classes() {
			one.classes = append(one.classes, account.Total(s.Over(account.LastHour, class)).Requests)
		}
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

// percent is the share of all requests. What is less than one percent is not none.
func (s spending) percent() string {
	if s.share > 0 && s.share < 0.01 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", 100*s.share)
}

// text is the spending as a sentence.
func (s spending) text() string {
	text := fmt.Sprintf("%s: %s in the last hour, %s of all", s.name, wording.Counted(s.Requests, "request", "requests"), s.percent())
	if s.Refused > 0 {
		text += fmt.Sprintf(", %s refused", wording.Count(s.Refused))
	}
	if s.Errors > 0 {
		text += fmt.Sprintf(", %s", wording.Counted(s.Errors, "error", "errors"))
	}
	return text
}

// spenderLines is a table of spenders.
func spenderLines(spenders []account.Spender) []string {
	var lines []string
	for _, s := range spendersOf(spenders) {
		p95 := "–"
		if s.slowest > 0 {
			p95 = wording.Took(s.slowest)
		}
		name := ansi.Truncate(s.name, 30, "…")
		name += strings.Repeat(" ", 30-ansi.StringWidth(name))
		line := fmt.Sprintf("%s %9s %6s %6s %6s ", name, wording.Count(s.Requests), s.percent(), wording.Count(s.Refused), wording.Count(s.Errors))
		for _, n := range s.classes {
			line += fmt.Sprintf(" %7s", wording.Count(n))
		}
		lines = append(lines, fmt.Sprintf("%s %8s", line, p95))
	}
	return lines
}
