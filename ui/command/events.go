package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/dashboard/pane"
)

type eventsOptions struct {
	follow           bool
	since            string
	types            []string
	filterText       string
	filter           *pane.Filter // compiled filter; nil: print all
	limit, last      int
	raw, quarantined bool
}

func newEvents() *cobra.Command {
	var o eventsOptions
	command := &cobra.Command{
		Use:   "events [ID]",
		Short: "Print the events that a relay has stored, and follow new ones",
		Long: "Print the events that a relay has stored, one per line with its exact cursor, and with --follow new ones as they " +
			"arrive. An ID selects one event; --quarantined lists signed bodies that are not events. Events go to stdout, messages to " +
			"stderr. Payment tokens and buyers' data are masked. With --follow, the command notices only at the next event that its " +
			"reader, such as head, has left; with --limit it ends at once. An ID, --quarantined and --last need a token with the scope read.",
		Example: "tillwatch events --since 1h\ntillwatch events --last 20\ntillwatch events --follow --json --type 'shipment.*'\n" +
			"tillwatch events evt_ci_42_completed --raw > body.json",
	}
	command.RunE = reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
		err := o.check(command.Flags(), args, std)
		if err == nil {
			o.filter, err = filterBy(s, dashboard.EventFilter, o.filterText)
		}
		if err == nil && o.last > 0 {
			o.since, err = beforeNewest(ctx, s, o.last)
		}
		switch {
		case err != nil:
			return nil, err
		case len(args) == 1:
			return showEvent(ctx, s, o, args[0], std)
		case o.quarantined:
			return showQuarantine(ctx, s, o, std)
		}
		return nil, tailEvents(ctx, s, o, nil, std)
	})
	flags := command.Flags()
	config.AddFlags(flags, "relay_url", "insecure_http")
	flags.BoolVarP(&o.follow, "follow", "f", false, "keep printing events as they arrive")
	flags.StringVar(&o.since, "since", "", "where to begin: the cursor of a line, an age such as 1h, an RFC 3339 time, "+
		"earliest or latest (default earliest; with --follow latest)")
	flags.IntVar(&o.last, "last", 0, "begin this many events before the newest")
	flags.IntVarP(&o.limit, "limit", "n", 0, "end after this many events (default: no limit)")
	flags.StringSliceVar(&o.types, "type", nil, "event type to print, or its beginning, such as shipment.* (repeatable)")
	flags.StringVar(&o.filterText, "filter", "", "print only events that match this filter, such as 'type:shipment age<1h', "+
		"or the name of one saved with :save")
	jsonFlag(flags, "print one JSON object per line")
	flags.BoolVar(&o.raw, "raw", false,
		"with an ID: the exact signed bytes, not masked; with --quarantined --json: add them in Base64")
	flags.BoolVar(&o.quarantined, "quarantined", false, "list the newest signed bodies that are not events, and why")
	command.AddCommand(newEventsResend())
	return command
}

// check refuses options that do not go together.
func (o eventsOptions) check(flags *pflag.FlagSet, args []string, std streams) error {
	one := len(args) == 1
	streaming := o.follow || o.since != "" || len(o.types) > 0 || o.last > 0 || o.filterText != ""
	switch {
	case one && (streaming || o.quarantined || o.limit > 0):
		return usagef("an ID selects one event: only --json or --raw goes with it")
	case o.quarantined && streaming:
		return usagef("--quarantined lists bodies that are not events: only --json, --raw and --limit go with it")
	case o.raw && (one == std.json || !one && !o.quarantined):
		return usagef("--raw needs either the ID of an event or --quarantined --json")
	case o.last > 0 && o.since != "":
		return usagef("choose one of --last and --since: each says where to begin")
	case flags.Changed("limit") && o.limit < 1 || flags.Changed("last") && o.last < 1:
		return usagef("--limit and --last must be above 0")
	}
	return checkTypes("--type", o.types)
}

// eventTypes are the event types of the contract that a relay stores.
func eventTypes() []string {
	return asStrings(slices.DeleteFunc(api.EventTypes(), func(t api.EventType) bool { return t == api.VerificationChallenge }))
}

// checkTypes refuses patterns of a flag that match no event type.
func checkTypes(flag string, patterns []string) error {
	for _, pattern := range patterns {
		if !slices.ContainsFunc(eventTypes(), matching(pattern)) {
			return usagef("%s: no known event type matches %s; the types are: %s", flag, api.Scrub(pattern),
				strings.Join(eventTypes(), ", "))
		}
	}
	return nil
}

// matching reports whether a name is the pattern, or begins as a pattern that ends in a star.
func matching(pattern string) func(name string) bool {
	return func(name string) bool { return api.EventType(name).Matches(pattern) }
}

// beforeNewest is the cursor that has count events after it.
func beforeNewest(ctx context.Context, s settings, count int) (string, error) {
	reader, err := newReader(s)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	return reader.Head(ctx, int64(count))
}

// eventsFrom configures where the stream begins.
func eventsFrom(s settings, o eventsOptions) (relay.SubscriberConfig, error) {
	from := relay.SubscriberConfig{Types: o.types, Client: "tillwatch events", From: relay.FromEarliest}
	if err := s.RequireRelay(); err != nil {
		return from, err
	}
	if o.follow {
		from.From = relay.FromLatest
	}
	at, timeErr := time.Parse(time.RFC3339, o.since)
	ago, ageErr := parseAge(o.since)
	switch {
	case o.since == "":
	case o.since == relay.FromEarliest, o.since == relay.FromLatest:
		from.From = o.since
	case timeErr == nil:
		from.From, from.Since = relay.FromEarliest, at
	case ageErr == nil:
		from.From, from.Since, from.Here = relay.FromEarliest, time.Now().Add(-ago), true
	case relay.IsCursor(o.since):
		from.From, from.Cursor = relay.FromEarliest, o.since
	default:
		return from, usagef("--since %q: give a cursor, an age such as 1h or 2d, an RFC 3339 time, earliest or latest", o.since)
	}
	return from, nil
}
