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
	"tillwatch/relay"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

func newIntent() *cobra.Command {
	var reveal bool
	var wait time.Duration
	command := &cobra.Command{
		Use:   "intent ID…",
		Short: "Print intents as they are now, with timeline and shipments",
		Long: "Print intents as they are now, as Markdown. Each is read, with its shipments; what the relay and earlier runs know " +
			"completes its timeline. Personal data is masked. To wait for a state: tillwatch wait.\n\n" +
			"Exit codes: 0 done; 1 one does not exist or could not be read; 2 wrong usage.",
		Example: "tillwatch intent ci_779d1ba1900f41e1ace4536c64382ed7\ntillwatch intent ci_779d1ba1900f41e1ace4536c64382ed7 --json",
		RunE: reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
			if wait < 0 {
				return nil, usagef("--wait must be 0 or longer, such as 10s")
			}
			var ids []api.ID
			for _, id := range session.IDs(args) {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			return readIntents(ctx, s, ids, reveal, wait, std)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "relay_url", "insecure_http", "confirm_window", "poll_every", "state_dir")
	jsonFlag(flags, "print one JSON object per intent")
	flags.DurationVar(&wait, "wait", 10*time.Second, "how long to wait for answers and for the relay's history")
	flags.BoolVar(&reveal, "reveal", false, "show the buyer, and unmask addresses and tracking; payment tokens stay hidden")
	return command
}

// readIntents reads intents and what belongs to each. Those that cannot be read are the error; what
// is known of them is in the report all the same.
func readIntents(ctx context.Context, s settings, ids []api.ID, reveal bool, wait time.Duration, std streams) (report, error) {
	current, err := session.New(s, session.Options{Memory: session.Remembers})
	if err != nil {
		return nil, err
	}
	defer current.Close()
	if err := current.Restored(); err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, wait)
	defer stop()
	failed := readAll(limited, current, ids, wait)
	complete, err := readHistory(limited, current, ids)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		std.say("%v", err)
	}
	var found []intentLine
	text := ""
	for _, id := range ids {
		in, known := current.Store.Intent(id)
		if !known || in.State == "" && in.Latest == nil { // it is only known that it does not exist
			continue
		}
		line := intentLineOf(current, in, reveal, complete, time.Now())
		if len(found) > 0 {
			text += "\n"
		}
		text += line.text()
		found = append(found, line)
	}
	return listOf(found, text), failed
}

var errUnauthorized = errors.New("the service refuses the API key: check TILLWATCH_API_KEY and that it belongs to this address")

// readAll reads intents with their shipments, ahead of background reads. The error names each that
// could not be read.
func readAll(ctx context.Context, s *session.Session, ids []api.ID, wait time.Duration) error {
	var failed []error
	for _, id := range ids {
		switch err := readIntent(ctx, s, id); {
		case err == nil:
		case errors.Is(err, errUnauthorized):
			return err
		case errors.Is(err, context.DeadlineExceeded):
			failed = append(failed, fmt.Errorf("%s: no answer within %s", id, api.Span(wait)))
		default:
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
		}
	}
	return errors.Join(failed...)
}

// readIntent reads an intent and, once it is completed, its shipments.
func readIntent(ctx context.Context, s *session.Session, id api.ID) error {
	sent := time.Now()
	in, err := s.Client.Intent(ctx, id)
	switch {
	case errors.Is(err, api.ErrMissing):
		s.Store.ApplyMissing(id, sent)
		return fmt.Errorf("the service knows no such intent in this environment (%s)", s.Client.Environment().Name)
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized
	case err != nil:
		return fmt.Errorf("reading it: %w", err)
	}
	in.ID = id
	s.Store.ApplyRead(in, sent, account.ByRead)
	if in.State != api.Completed {
		return nil
	}
	sent = time.Now()
	var list []api.Shipment
	var incomplete error
	for sh, err := range s.Client.IntentShipments(ctx, id) {
		switch {
		case errors.As(err, new(*api.ItemError)): // an unreadable item says nothing about the others
			continue
		case errors.Is(err, api.ErrNotFound), errors.Is(err, api.ErrNotServed):
			return nil
		case errors.Is(err, api.ErrIncomplete):
			incomplete = fmt.Errorf("listing its shipments: %w", err)
			continue
		case err != nil:
			return fmt.Errorf("listing its shipments: %w", err)
		}
		if sh.IntentID == "" {
			sh.IntentID = id
		}
		list = append(list, sh)
	}
	s.Store.ApplyIntentShipments(id, list, sent)
	return incomplete
}

// readHistory receives what the relay has stored since the last run, or since the first of the
// intents was created. It reports whether that is complete; the error says what may be missing.
func readHistory(ctx context.Context, s *session.Session, ids []api.ID) (complete bool, err error) {
	events, err := s.Subscribe(relay.SubscriberConfig{Since: created(s.Store, ids)})
	if events == nil || err != nil {
		return false, err
	}
	ended := func() bool {
		state := s.Store.Summary().Feed.State
		return state == account.FeedLive || state == account.FeedRefused
	}
	wait := func(ctx context.Context) error { return s.Store.Until(ctx, ended) }
	_ = session.Alongside(ctx, wait, func(ctx context.Context) error {
		if err := events.Follow(ctx, session.PictureSink{Store: s.Store}); ctx.Err() == nil {
			s.Store.SetFeed(account.FeedStatus{State: account.FeedRefused, Since: time.Now(), Err: err})
		}
		return nil
	})
	switch feed := s.Store.Summary().Feed; feed.State {
	case account.FeedLive:
		return true, nil
	case account.FeedRefused:
		return false, fmt.Errorf("the relay refuses this client, so its events are missing from the timeline: %w", feed.Err)
	}
	return false, errors.New("the relay did not send its history in time, so events may be missing from the timeline")
}

// created is a little before the first of the intents was created; zero unless that is known of
// all that exist.
func created(store *account.Store, ids []api.ID) (first time.Time) {
	for _, id := range ids {
		in, known := store.Intent(id)
		switch {
		case known && in.Missing:
		case !known || in.CreatedAt.IsZero():
			return time.Time{}
		case first.IsZero() || in.CreatedAt.Before(first):
			first = in.CreatedAt
		}
	}
	if first.IsZero() {
		return first
	}
	return first.Add(-time.Minute)
}
