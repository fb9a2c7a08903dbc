package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/relay"
)

type intentOptions struct {
	json, reveal   bool
	markdown, curl bool
	wait           time.Duration
}

func newIntent() *cobra.Command {
	var o intentOptions
	command := &cobra.Command{
		Use:   "intent ID…",
		Short: "Print intents as they are now, with timeline and shipments",
		Long: "Print intents as they are now. Each is read, with its shipments; what the relay and earlier runs know completes " +
			"its timeline. Personal data is masked. To wait for a state: tillwatch wait.\n\n" +
			"Exit codes:\n" +
			"0  done\n" +
			"1  failed: one does not exist or could not be read\n" +
			"2  wrong usage",
		Example: "tillwatch intent ci_779d1ba1900f41e1ace4536c64382ed7\ntillwatch intent ci_779d1ba1900f41e1ace4536c64382ed7 --json",
		Args:    someIntents,
		RunE: configured(func(c *cobra.Command, s settings, args []string) error {
			if o.wait < 0 {
				return usagef("--wait must be 0 or longer, such as 10s")
			}
			if o.json && (o.markdown || o.curl) || o.markdown && o.curl {
				return usagef("choose one of --json, --markdown and --curl")
			}
			return runIntent(c.Context(), s, args, o, c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "relay_url", "insecure_http", "confirm_window", "poll_every", "state_dir")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per intent")
	flags.BoolVar(&o.markdown, "markdown", false, "print Markdown, for a colleague")
	flags.BoolVar(&o.curl, "curl", false, "read nothing, and print the request as a curl command that takes the key from $TILLWATCH_API_KEY")
	flags.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait for answers and for the relay's history")
	flags.BoolVar(&o.reveal, "reveal", false, "show the buyer, and unmask addresses and tracking; payment tokens stay hidden")
	return command
}

func someIntents(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("which intent? give its id: tillwatch intent ID")
	}
	return validIDs(c, args)
}

// intentReader reads intents and prints them.
type intentReader struct {
	*session
	ids            []api.ID
	o              intentOptions
	stdout, stderr io.Writer
	historyRead    bool             // the relay has sent its history
	failed         map[api.ID]error // why some could not be read
	longer         string           // how long to wait for what is missing; may be ""
}

func runIntent(ctx context.Context, s settings, args []string, o intentOptions, stdout, stderr io.Writer) error {
	current, err := newSession(s, remembers)
	if err != nil {
		return err
	}
	defer current.close()
	if err := current.restored(); err != nil {
		return err
	}
	look := &intentReader{session: current, o: o, stdout: stdout, stderr: stderr, failed: map[api.ID]error{}}
	for _, arg := range args {
		if id := api.ScrubID(arg); !slices.Contains(look.ids, id) {
			look.ids = append(look.ids, id)
		}
	}
	if o.curl {
		return look.commands()
	}
	return look.once(ctx)
}

// commands prints the curl commands that read the intents.
func (l *intentReader) commands() error {
	for _, id := range l.ids {
		text, err := l.curl(id)
		if err == nil {
			_, err = io.WriteString(l.stdout, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// once reads every intent and what belongs to it, and prints them.
func (l *intentReader) once(ctx context.Context) error {
	limited, stop := context.WithTimeout(ctx, l.o.wait)
	defer stop()
	for _, id := range l.ids {
		l.tryRead(limited, id)
	}
	l.readHistory(limited)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, id := range l.ids {
		if in, known := l.store.Intent(id); known && (in.State != "" || in.Latest != nil) { // more is known than that it does not exist
			if err := l.print(in, i > 0); err != nil {
				return err
			}
		}
	}
	return l.unread()
}

// tryRead reads an intent, and records why it could not be read.
func (l *intentReader) tryRead(ctx context.Context, id api.ID) {
	if err := l.read(ctx, id); err != nil {
		l.failed[id] = err
	}
}

// read reads an intent and its shipments, ahead of background reads.
func (l *intentReader) read(ctx context.Context, id api.ID) error {
	sent := time.Now()
	in, err := l.client.Intent(ctx, id)
	switch {
	case errors.Is(err, api.ErrMissing):
		l.store.ApplyMissing(id, sent)
		return fmt.Errorf("the service knows no such intent in this environment (%s)", l.client.Environment().Name)
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized
	case err != nil:
		return fmt.Errorf("reading it: %w", err)
	}
	in.ID = id
	l.store.ApplyRead(in, sent, account.ByRead)
	if in.State != api.Completed {
		return nil
	}
	return l.readShipments(ctx, id)
}

func (l *intentReader) readShipments(ctx context.Context, id api.ID) error {
	sent := time.Now()
	var list []api.Shipment
	var incomplete error
	for sh, err := range l.client.IntentShipments(ctx, id) {
		item := (*api.ItemError)(nil)
		switch {
		case errors.As(err, &item): // an unreadable item says nothing about the others
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
	l.store.ApplyIntentShipments(id, list, sent)
	return incomplete
}

// readHistory receives what the relay has stored since the last run, or since the first
// of the intents was created.
func (l *intentReader) readHistory(ctx context.Context) {
	events, err := l.subscribe(relay.SubscriberConfig{Since: l.created()})
	if events == nil || err != nil {
		l.note(err)
		return
	}
	wait := func(ctx context.Context) error {
		return l.store.Until(ctx, func() bool {
			state := l.store.Summary().Feed.State
			return state == account.FeedLive || state == account.FeedRefused
		})
	}
	_ = alongside(ctx, wait, func(ctx context.Context) error {
		if err := events.Follow(ctx, pictureSink{l.store}); ctx.Err() == nil {
			l.store.SetFeed(account.FeedStatus{State: account.FeedRefused, Since: time.Now(), Err: err})
		}
		return nil
	})
	if !errors.Is(ctx.Err(), context.Canceled) { // else it was interrupted
		l.noteFeed()
	}
}

// created is a little before the first of the intents was created; zero unless that
// is known of all.
func (l *intentReader) created() time.Time {
	var first time.Time
	for _, id := range l.ids {
		in, known := l.store.Intent(id)
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

// noteFeed says on stderr what the timeline may lack.
func (l *intentReader) noteFeed() {
	switch state := l.store.Summary().Feed; {
	case state.State == account.FeedLive:
		l.historyRead = true
	case state.State == account.FeedRefused:
		l.note(fmt.Errorf("the relay refuses this client, so its events are missing from the timeline: %w", state.Err))
	default:
		l.note(fmt.Errorf("the relay did not send its history within %s, so events may be missing from the timeline", api.Span(l.o.wait)))
	}
}

func (l *intentReader) note(err error) {
	if err != nil {
		fmt.Fprintf(l.stderr, "tillwatch: %s\n", api.Scrub(err.Error()))
	}
}

func (l *intentReader) print(in *account.IntentDetail, again bool) error {
	line := l.intentLine(in, l.o.reveal, l.historyRead, time.Now())
	text := line.sheet()
	if l.o.markdown {
		text = line.markdown()
	}
	if again {
		text = "\n" + text
	}
	return printed(l.stdout, l.o.json, line, text)
}

var errUnauthorized = errors.New("the service refuses the API key: check TILLWATCH_API_KEY and that it belongs to this address")

// unread is one error for everything that could not be read.
func (l *intentReader) unread() error {
	var all []error
	for _, id := range l.ids {
		switch err := l.failed[id]; {
		case err == nil:
		case errors.Is(err, errUnauthorized):
			return err
		case errors.Is(err, context.DeadlineExceeded):
			all = append(all, fmt.Errorf("%s: no answer within %s", id, api.Span(l.o.wait)))
		default:
			all = append(all, fmt.Errorf("%s: %w", id, err))
		}
	}
	return inOneLine(all)
}
