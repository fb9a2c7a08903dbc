package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/session"
)

func newOrder() *cobra.Command {
	var wait time.Duration
	command := &cobra.Command{
		Use:   "order REFERENCE",
		Short: "Print an order: the intents that share a reference",
		Long: "Print an order: the intents with one referenceId, each an item, with their total per currency, the worst and the best " +
			"of their states, and the confirm window that closes first. Failed items do not count in the total.\n\n" +
			"The service cannot search by reference. The command knows the intents that the service lists, if it has a list, that the " +
			"relay's events and --watch-id name, and that earlier runs knew; with neither a list nor a relay, items may be missing. It " +
			"reads those that it has never read, and the order's items, within the dashboard's share of the quota, at most for --wait; " +
			"the next run goes on where one ended. Then it reads the order's open items again, again at most --wait.\n\n" +
			"Exit codes: 0 done, whatever became of its items; 1 nothing is known of the order, or the service could not be " +
			"read; 2 wrong usage; 4 unknown: items may be missing.",
		Example: "tillwatch order order-20417\ntillwatch order order-20417 --json | jq .order.partlyFailed",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			return readOrder(ctx, s, api.Scrub(args[0]), wait, std)
		}),
	}
	accountFlags(command.Flags())
	jsonFlag(command.Flags(), "print one JSON object")
	command.Flags().DurationVar(&wait, "wait", 10*time.Second, "how long to wait for a settled picture, and then for the items")
	return command
}

func readOrder(ctx context.Context, s settings, reference api.Text, wait time.Duration, std streams) (report, error) {
	var picture snapshot
	var found *orderLine
	var unread error
	err := withSettled(ctx, s, reference, std, wait, func(ctx context.Context, current *session.Session) error {
		limited, stop := context.WithTimeout(ctx, wait)
		defer stop()
		unread = readAll(limited, current, openItems(current.Store.Order(reference)), wait)
		picture = takeSnapshot(current, time.Now(), nil)
		picture.missItems(current.Store.Summary())
		if order := current.Store.Order(reference); order != nil {
			found = orderLineOf(current, order, picture.Settled)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	unsettled := ""
	if !picture.Settled {
		unsettled = ": the picture is not settled, " + picture.missing()
	}
	switch {
	case found == nil && picture.failure() != nil:
		return nil, picture.failure()
	case found == nil:
		return nil, fmt.Errorf("no intent with the reference %s is known%s", reference, unsettled)
	case unread != nil:
		return found, unread
	case !picture.Settled:
		return found, &exitError{exitUnknown, errors.New("items may be missing" + unsettled)}
	}
	return found, nil
}

// openItems are the items of an order that are still to be read.
func openItems(order *account.Order) (ids []api.ID) {
	if order == nil {
		return nil
	}
	for _, in := range order.Intents {
		if !in.State.Terminal() || in.Certainty != account.Verified {
			ids = append(ids, in.ID)
		}
	}
	return ids
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

// orderLine is an order as it is now. Its JSON is the object of `order --json`.
type orderLine struct {
	Environment string         `json:"environment"`
	Live        bool           `json:"live"`
	Settled     bool           `json:"settled"` // whether all intents that may belong to it have been read
	Order       *account.Order `json:"order"`
	Closing     api.ID         `json:"closing,omitempty"` // the item whose confirm window closes first
	Ended       time.Time      `json:"ended_at,omitzero"` // missing while an item is open or its end is unknown
	Advice      string         `json:"advice,omitempty"`  // if it is partly failed

	service time.Time // when it was made, by the service's clock
}

// orderLineOf is an order with its items masked, as they may leave the process.
func orderLineOf(s *session.Session, o *account.Order, settled bool) *orderLine {
	where := s.Client.Environment()
	shared := *o
	line := orderLine{Environment: where.Name, Live: where.Live, Settled: settled, Order: &shared, Ended: o.Ended.UTC(),
		service: time.Now().Add(-s.Store.Summary().Ahead)}
	shared.Intents = nil
	for _, in := range o.Intents {
		all, known := s.Store.Intent(in.ID)
		if !known {
			all = &account.IntentDetail{Intent: *in}
		}
		shared.Intents = append(shared.Intents, &all.Shared().Intent)
	}
	if slices.ContainsFunc(o.Intents, func(in *account.Intent) bool { return in.Entered().IsZero() }) {
		line.Ended = time.Time{}
	}
	if o.PartlyFailed {
		line.Advice = string(o.Reference) + " " + o.Trouble()
	}
	if o.Closing != nil {
		line.Closing = o.Closing.ID
	}
	return &line
}

// text is the order for people.
func (l *orderLine) text() string {
	o := l.Order
	state, least := sign.Intent(o.Worst).String(), ""
	if o.Worst != o.Best {
		state += " … " + sign.Intent(o.Best).String()
	}
	if !l.Settled {
		least = "at least "
	}
	facts := []fact{{"order", string(o.Reference)}, {"state", state}, {"environment", environmentText(l.Environment, l.Live)},
		{"items", least + sign.Items(o)}}
	for i, total := range o.Totals {
		text := least + total.String()
		if o.Unpriced > 0 && i == 0 {
			text = fmt.Sprintf("at least %s: %d not counted", total, o.Unpriced)
		}
		facts = append(facts, fact{"total", text})
	}
	if o.Closing != nil && !o.Closing.ExpiresAt.IsZero() {
		closes := o.Closing.ExpiresAt
		facts = append(facts, fact{"confirm by", stamp(closes, l.service) + untilClosed(closes.Sub(l.service))})
	}
	facts = append(facts, fact{"ended", stamp(l.Ended, l.service)}, fact{"advice", l.Advice})
	rows := [][]string{{"STATE", "ITEM", "TOTAL", "MERCHANT", "ID"}}
	for _, in := range o.Intents {
		name, state := string(in.Product), sign.Intent(in.State).String()
		if in.Quantity > 1 {
			name = fmt.Sprintf("%d × %s", in.Quantity, name)
		}
		if in.Failure != nil && in.State == api.Failed {
			state += ": " + in.Failure.Code.Words()
		}
		rows = append(rows, []string{state, name, inWords(in.Total), string(in.Merchant), string(in.ID)})
	}
	return sheet(facts...) + "\n" + table(rows...)
}
