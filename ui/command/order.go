package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
)

type orderOptions struct {
	json bool
	wait time.Duration
}

func newOrder() *cobra.Command {
	var o orderOptions
	command := &cobra.Command{
		Use:   "order REFERENCE",
		Short: "Print an order: the intents that share a reference",
		Long: "Print an order: the intents with one referenceId, each an item, with their total per currency, the worst and the best of their states, " +
			"and the confirm window that closes first. Failed items do not count in the total.\n\n" +
			"The service cannot search by reference. The command knows the intents that the service lists, if it has a list, that the relay's events and --watch-id name, and " +
			"that earlier runs knew; with neither a list nor a relay, items may be missing. It reads those that it has never read, and the order's items, within the dashboard's share of the quota, at most for --wait; " +
			"the next run goes on where one ended. Then it reads the order's open items again, again at most --wait.\n\n" +
			"Exit codes:\n" +
			"0  done: no item has failed, and none is missing\n" +
			"1  failed: an item has failed or expired, nothing is known of the order, or the service could not be read\n" +
			"2  wrong usage\n" +
			"4  unknown: no item that is known has failed, but items may be missing",
		Example: "tillwatch order order-20417\ntillwatch order order-20417 --json | jq .order.partlyFailed",
		Args:    argument("which order? give the referenceId of its intents: tillwatch order REFERENCE", "give one reference: leave out the others"),
		RunE: configured(func(c *cobra.Command, s settings, args []string) error {
			return runOrder(c, s, api.Scrub(args[0]), o)
		}),
	}
	accountFlags(command.Flags())
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait for a settled picture, and then for the items")
	return command
}

func runOrder(c *cobra.Command, s settings, reference api.Text, o orderOptions) error {
	s.WatchOrder = reference
	look := &intentReader{stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(), failed: map[api.ID]error{}}
	look.o.wait = o.wait
	var picture snapshot
	read := func(ctx context.Context, s *session) error {
		look.longer = longerWait(s.watcher.Settling(), s.store.Summary().Reads.Total, o.wait)
		limited, stop := context.WithTimeout(ctx, o.wait)
		defer stop()
		look.session = s
		look.readItems(limited, reference)
		picture = s.snapshot(time.Now(), nil)
		picture.missItems(s.store.Summary())
		return nil
	}
	if err := withSettled(c.Context(), s, streamsOf(c), o.wait, read); err != nil {
		return err
	}
	return look.printOrder(reference, picture, o.json)
}

// printOrder prints an order; the error says what is wrong with it.
func (l *intentReader) printOrder(reference api.Text, picture snapshot, asJSON bool) error {
	found := l.store.Order(reference)
	if found == nil {
		if err := picture.failure(); err != nil {
			return err
		}
		return fmt.Errorf("no intent with the reference %s is known%s%s", reference, picture.doubt(), l.advice())
	}
	line := l.orderLine(found, picture.Settled)
	if err := printed(l.stdout, asJSON, line, line.sheet(time.Now())); err != nil {
		return err
	}
	var missing error
	if !picture.Settled {
		missing = fmt.Errorf("items may be missing%s%s", picture.doubt(), l.advice())
	}
	err := l.unread()
	if n := found.Counts[api.Failed]; err == nil && n > 0 {
		err = fmt.Errorf("%d of %d items of %s failed", n, len(found.Intents), reference)
	}
	switch {
	case missing == nil:
		return err
	case err == nil:
		return &exitError{exitUnknown, missing}
	}
	l.note(missing)
	return err
}

// advice says how to learn what is missing, as far as waiting longer helps.
func (l *intentReader) advice() string {
	switch {
	case l.longer == "":
		return ""
	case l.unsaved() != "": // the next run begins where this one did
		return "; run it again with --wait " + l.longer
	}
	return "; run it again to go on, best with --wait " + l.longer
}

// readItems reads the items of an order that have not ended.
func (l *intentReader) readItems(ctx context.Context, reference api.Text) {
	order := l.store.Order(reference)
	if order == nil {
		return
	}
	for _, in := range order.Intents {
		l.ids = append(l.ids, in.ID)
		if in.State.Terminal() && in.Certainty == account.Verified {
			continue
		}
		l.tryRead(ctx, in.ID)
	}
}

// longerWait is how long to wait for the intents still to be read, at the pace of the reads so far; "" if that is not
// known or they fail.
func longerWait(s account.Settling, reads int, waited time.Duration) string {
	for _, m := range s.Missing {
		if m.Part == account.PartIntents && m.Err == nil && reads > 0 {
			need := waited + time.Duration(float64(waited)*1.2*float64(m.Count)/float64(reads))
			return api.Span(need.Truncate(30*time.Second) + 30*time.Second)
		}
	}
	return ""
}

// missItems notes that an order may have more items than those given: neither a list nor
// a relay would report them, or the list has some that cannot be read.
func (r *snapshot) missItems(s account.Summary) {
	switch {
	case !r.Settled:
	case s.Feed.State == account.FeedOff && s.List.State == account.ListNotServed:
		r.Settled, r.Missing = false, []missingReport{{What: account.PartSource}}
	case s.List.Unreadable > 0:
		r.Settled, r.Missing = false, []missingReport{{What: account.PartList, Count: &s.List.Unreadable}}
	}
}

// doubt says what an unsettled picture lacks.
func (r snapshot) doubt() string {
	if r.Settled {
		return ""
	}
	return ": the picture is not settled, " + r.missing()
}

// orderLine is an order as it is now. Its JSON is the object of `order --json`.
type orderLine struct {
	Environment string         `json:"environment"`
	Live        bool           `json:"live"`
	Settled     bool           `json:"settled"` // whether all intents that may belong to it have been read
	Order       *account.Order `json:"order"`
	Closing     api.ID         `json:"closing,omitempty"` // the item whose confirm window closes first
	Ended       time.Time      `json:"ended_at,omitzero"` // missing while an item is open or its end is unknown
	Advice      string         `json:"advice,omitempty"`  // if it is partly failed

	ahead time.Duration // how far this machine's clock is ahead of the service's
}

func (l *intentReader) orderLine(o *account.Order, settled bool) orderLine {
	where := l.client.Environment()
	line := orderLine{Environment: where.Name, Live: where.Live, Settled: settled, Order: l.shared(o), Ended: o.Ended.UTC(), ahead: l.store.Summary().Ahead}
	if slices.ContainsFunc(o.Intents, func(in *account.Intent) bool { return in.Entered().IsZero() }) {
		line.Ended = time.Time{}
	}
	if o.PartlyFailed {
		line.Advice = string(o.Reference) + " " + o.Trouble()
	}
	if o.Closing != nil {
		line.Closing = o.Closing.ID
	}
	return line
}

// shared is the order with its items masked, as they may leave the process.
func (l *intentReader) shared(o *account.Order) *account.Order {
	out := *o
	out.Intents = nil
	for _, in := range o.Intents {
		all, known := l.store.Intent(in.ID)
		if !known {
			all = &account.IntentDetail{Intent: *in}
		}
		out.Intents = append(out.Intents, &all.Shared().Intent)
	}
	return &out
}

// sheet is the order for people.
func (l orderLine) sheet(now time.Time) string {
	s, o := &sheetWriter{}, l.Order
	mark := sign.Intent(o.Worst).String()
	if o.Worst != o.Best {
		mark += " … " + sign.Intent(o.Best).String()
	}
	s.apart(string(o.Reference), mark)
	s.row("environment", environmentText(l.Environment, l.Live))
	items := sign.Items(o)
	if !l.Settled {
		items = "at least " + items
	}
	s.row("items", items)
	for i, total := range o.Totals {
		text := total.String()
		if !l.Settled || o.Unpriced > 0 {
			text = "at least " + text
		}
		if i == 0 && o.Unpriced > 0 {
			text += fmt.Sprintf(": %d not counted", o.Unpriced)
		}
		s.row("total", text)
	}
	if o.Closing != nil && !o.Closing.ExpiresAt.IsZero() {
		closes, at := o.Closing.ExpiresAt, now.Add(-l.ahead)
		s.row("confirm by", stamp(closes, at)+untilClosed(closes.Sub(at)))
	}
	s.row("ended", stamp(l.Ended, now))
	s.row("advice", l.Advice)
	s.line("", "ITEMS")
	for _, in := range o.Intents {
		name := string(in.Product)
		if in.Quantity > 1 {
			name = fmt.Sprintf("%d × %s", in.Quantity, name)
		}
		s.apart(fmt.Sprintf("%-13s %s", sign.Intent(in.State), name), inWords(in.Total))
		if in.Failure != nil && in.State == api.Failed {
			s.row("", "  "+in.Failure.Code.Words())
		}
		s.row("", "  "+strings.TrimSpace(string(in.Merchant)+"  "+string(in.ID)))
	}
	return s.String()
}
