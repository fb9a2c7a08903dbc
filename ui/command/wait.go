package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/relay"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

type waitOptions struct {
	atMost time.Duration
	since  time.Duration
	json   bool
}

func newWait() *cobra.Command {
	o := waitOptions{since: -1}
	command := &cobra.Command{
		Use:   "wait CONDITION",
		Short: "Wait for a condition: an intent's state, an event, the relay",
		Long: "Wait for a condition, for scripts and CI. A condition is a subject and its terms, each name=value or several values with commas between them:\n\n" +
			"intent:ID state=… reason=…                  a read shows this state\n" +
			"order:REFERENCE state=… items=N             all items of the order, at least N of them\n" +
			"event type=… id=… reference=… intent=…      the relay has received such an event; type=shipment.* is any of a kind;\n" +
			"                                            reads are needed, and an API key, for a reference or an intent\n" +
			"relay                                       it answers, accepts the token and streams\n\n" +
			"An intent alone is read, or with --relay-url its event; orders watch the account, within the dashboard's share of the quota. " +
			"If the condition names a reference, an intent or an id, events of the last hour count, otherwise only new ones; --since changes that.\n\n" +
			"Exit codes:\n" +
			"0  the condition holds\n" +
			"1  the time is up, or the condition could not be checked\n" +
			"2  wrong usage\n" +
			"3  it can no longer hold, as when the intent has failed or does not exist",
		Example: "tillwatch wait relay --for 30s\n" +
			"tillwatch wait 'intent:ci_779d1ba1900f state=completed' --for 5m\n" +
			"tillwatch wait 'event type=checkout_intent.completed reference=o-7' --json",
		RunE: func(c *cobra.Command, args []string) error {
			w, err := parseCondition(args)
			if err != nil {
				return usage(err)
			}
			s, err := settingsOf(c)
			if err != nil {
				return err
			}
			if err := readWatchIDs(&s, c.Context(), c.InOrStdin()); err != nil {
				return err
			}
			if o.atMost <= 0 || c.Flags().Changed("since") && o.since < 0 {
				return usagef("--for must be longer than 0, and --since 0 or longer, such as 5m")
			}
			return runWait(c.Context(), s, w, o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	accountFlags(flags)
	flags.DurationVar(&o.atMost, "for", 5*time.Minute, "how long to wait")
	flags.DurationVar(&o.since, "since", o.since, "with event and order: how far back the relay's events count (default 1h if a reference, an intent or an id is given)")
	flags.Lookup("since").DefValue = "0s"
	flags.BoolVar(&o.json, "json", false, "print one JSON object at the end")
	return command
}

// waitReport is the object of `wait --json`. Fields are added, never renamed.
type waitReport struct {
	Condition string  `json:"condition"`
	Verdict   string  `json:"verdict"` // met, time_over, impossible, not_checked, interrupted
	Is        string  `json:"is"`      // the current state, in words
	Intent    api.ID  `json:"intent,omitempty"`
	Event     api.ID  `json:"event,omitempty"`
	WaitedS   float64 `json:"waited_s"`
	ExitCode  int     `json:"exit_code"`
}

// runWait waits and reports the result.
func runWait(ctx context.Context, s settings, w *condition, o waitOptions, stdout, stderr io.Writer) error {
	if w.subject == ofEvent || w.subject == ofRelay {
		if err := s.RequireRelay(); err != nil {
			return err
		}
	}
	wait := waitForRelay
	if w.reads() {
		if err := s.RequireAccount(); err != nil {
			return err
		}
		wait = waitForPicture
	}
	began := time.Now()
	fmt.Fprintf(stderr, "waiting for %s, at most %s\n", api.Scrub(w.text), api.Span(o.atMost))
	limited, stop := context.WithTimeout(ctx, o.atMost)
	defer stop()
	now, err := wait(limited, s, w, o)
	interrupted := ctx.Err() != nil && now.verdict == notYet
	if errors.As(err, new(*exitError)) && !interrupted { // the settings
		return err
	}
	r := waitReport{Condition: w.text, Is: now.is, Intent: now.intent, Event: now.event, WaitedS: rounded(time.Since(began).Seconds())}
	var failure error
	switch {
	case interrupted:
		r.Verdict, r.ExitCode = "interrupted", exitFailed
		failure = errors.New("interrupted: " + now.is)
	case err != nil && limited.Err() == nil:
		r.Verdict, r.Is, r.ExitCode = "not_checked", string(api.Scrub(err.Error())), exitFailed
		failure = err
	case now.verdict == isSo:
		r.Verdict = "met"
	case now.verdict == neverSo:
		r.Verdict, r.ExitCode = "impossible", exitNotConfirmable
		failure = fmt.Errorf("it can no longer hold: %s", now.is)
	default:
		r.Verdict, r.ExitCode = "time_over", exitFailed
		failure = fmt.Errorf("the time is up: %s", now.is)
	}
	if err := printed(stdout, o.json, r, ""); err != nil {
		return err
	}
	if failure != nil {
		return &exitError{r.ExitCode, failure}
	}
	_, err = fmt.Fprintf(stderr, "%s, after %s\n", api.Scrub(now.is), wording.Took(time.Since(began)))
	return err
}

// waitForRelay checks a condition that the relay alone can answer, so that no account is needed.
func waitForRelay(ctx context.Context, s settings, w *condition, o waitOptions) (found, error) {
	subscriber, err := session.NewSubscriber(s, relay.SubscriberConfig{Since: time.Now().Add(-w.back(o.since)), Here: true, Client: "tillwatch wait"})
	if err != nil {
		return found{}, err
	}
	look := &waiting{condition: w, store: account.NewStore(account.StoreConfig{})}
	follow := func(ctx context.Context) error {
		_ = session.NewFeed(subscriber, look.store).Follow(ctx, tapped{session.PictureSink{Store: look.store}, look}) // the picture has the error
		return nil
	}
	redial := func(ctx context.Context) error {
		for api.Sleep(ctx, dialEvery) == nil {
			subscriber.Retry() // it may have started just now
		}
		return nil
	}
	err = session.Alongside(ctx, look.until, follow, redial)
	return look.now, err
}

const dialEvery = time.Second

// askEvery is how often to read, whatever events say: confirms and expiries have
// none.
const askEvery = 10 * time.Second

// unreadEvery is how soon to read intents known only from events; the share of the
// quota limits how many.
const unreadEvery = 2 * time.Second

// waitForPicture keeps a picture of the account, or of one intent, and checks the
// condition whenever it changes.
func waitForPicture(ctx context.Context, s settings, w *condition, o waitOptions) (found, error) {
	current, err := session.New(s, session.Options{})
	if err != nil {
		return found{}, err
	}
	defer current.Close()
	look, ids := &waiting{condition: w, store: current.Store}, w.intents()
	events, err := current.Subscribe(relay.SubscriberConfig{Since: time.Now().Add(-w.back(o.since)), Here: true})
	if err != nil {
		return found{}, err
	}
	if events != nil {
		events = tap{events, look}
	}
	config := account.WatcherConfig{Store: current.Store, Reader: current.Client, Feed: events, WatchIDs: ids, Only: ids, Poll: s.PollEvery}
	switch {
	case len(ids) > 0:
		config.Poll = min(config.Poll, askEvery)
	default:
		config.WatchIDs = session.IDs(s.WatchIDs)
		config.Poll = min(config.Poll, unreadEvery) // reads ended intents for their reference
	}
	watcher := account.NewWatcher(config)
	err = session.Alongside(ctx, look.until, watcher.Run, func(ctx context.Context) error {
		for api.Sleep(ctx, askEvery) == nil {
			for _, id := range ids {
				watcher.Refresh(id)
			}
		}
		return nil
	})
	return look.now, err
}

// intents are the only ones to read; none means the whole account.
func (w *condition) intents() []api.ID {
	if w.subject == ofIntent {
		return session.IDs([]string{w.name})
	}
	return session.IDs(w.terms["intent"])
}

// until checks the picture whenever it changes.
func (l *waiting) until(ctx context.Context) error {
	refused := false
	err := l.store.Until(ctx, func() bool {
		l.look()
		now, s := time.Now(), l.store.Summary()
		refused, l.held = s.API.State == account.APIUnauthorized, wording.Holds(s.Holds(now), now, time.Local)
		return refused || l.now.verdict != notYet
	})
	switch {
	case l.now.verdict != notYet:
		return nil
	case refused:
		return errUnauthorized
	case err != nil:
		l.now.is = cmp.Or(l.unanswered(l.store.Summary()), l.now.is)
	}
	return err
}

// unanswered says why the condition could not be checked, if reads wait, or the relay or the service
// did not answer last.
func (l *waiting) unanswered(s account.Summary) string {
	reading := s.API.Err != nil && (s.API.State == account.APIUnknown || s.API.State == account.APIFailing ||
		s.API.State == account.APISlow && errors.Is(s.API.Err, api.ErrRateLimited))
	switch {
	case l.subject == ofEvent && s.Feed.State != account.FeedLive && s.Feed.Err != nil:
		return "the relay does not answer, so no event can arrive: " + wording.Because(s.Feed.Err)
	case reading:
		return l.now.is + "; the last read failed: " + wording.Because(s.API.Err)
	case l.held != "":
		return l.now.is + "; " + l.held
	}
	return ""
}

// tap passes the events of a feed to what waits for them, before they are merged.
type tap struct {
	account.Feed
	look *waiting
}

// Follow implements [account.Feed].
func (t tap) Follow(ctx context.Context, sink account.Sink) error {
	return t.Feed.Follow(ctx, tapped{sink, t.look})
}

type tapped struct {
	account.Sink
	look *waiting
}

// Deliver implements [account.Sink].
func (t tapped) Deliver(batch []account.Delivery, arrived time.Time) {
	t.look.collect(batch)
	t.Sink.Deliver(batch, arrived)
}
