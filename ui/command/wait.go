package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

func newWait() *cobra.Command {
	var atMost, since time.Duration
	command := &cobra.Command{
		Use:   "wait CONDITION",
		Short: "Wait for a condition: an intent's state, an event, the relay",
		Long: "Wait for a condition, for scripts and CI. A condition is a subject and its terms, each name=value or several values with " +
			"commas between them:\n\n" +
			"  intent:ID state=…             a read shows this state; any, without state\n" +
			"  event type=… reference=… id=… the relay has received such an event; type=shipment.* is any of a kind\n" +
			"  relay                         it answers, accepts the token and streams\n\n" +
			"An intent is read every 5s, and at once when the relay has an event of it. A reference is known from a read, which needs " +
			"an API key. If an event is named by a reference or an id, those of the last hour count, otherwise only new ones; --since " +
			"changes that.\n\n" +
			"Exit codes:\n" +
			"0  the condition holds\n" +
			"1  the time is up, or the condition could not be checked\n" +
			"2  wrong usage\n" +
			"3  it can no longer hold: the intent has ended in another state or does not exist, or the relay refuses the token",
		Example: "tillwatch wait relay --for 30s\n" +
			"tillwatch wait 'intent:ci_779d1ba1900f state=completed' --for 5m\n" +
			"tillwatch wait 'event type=checkout_intent.completed reference=o-7' --json",
	}
	command.RunE = reporting(func(ctx context.Context, s settings, args []string, std streams) (report, error) {
		w, err := parseCondition(args)
		if err != nil {
			return nil, usage(err)
		}
		if atMost <= 0 || since < 0 {
			return nil, usagef("--for must be longer than 0, and --since 0 or longer, such as 5m")
		}
		if !command.Flags().Changed("since") && len(w.terms["reference"])+len(w.terms["id"]) > 0 {
			since = time.Hour
		}
		return w.wait(ctx, s, atMost, since, std)
	})
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "relay_url", "insecure_http", "poll_share", "state_dir")
	jsonFlag(flags, "print one JSON object at the end")
	flags.DurationVar(&atMost, "for", 5*time.Minute, "how long to wait")
	flags.DurationVar(&since, "since", 0, "with event: how far back the relay's events count (default 1h if a reference or an id is given)")
	return command
}

// condition is a condition as it was typed.
type condition struct {
	text, subject string
	id            api.ID // of the intent
	terms         map[string][]string
}

// waitTerms are the terms of each subject.
func waitTerms() map[string][]string {
	return map[string][]string{"intent": {"state"}, "event": {"id", "reference", "type"}, "relay": nil}
}

func parseCondition(args []string) (*condition, error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) == 0 {
		return nil, errors.New("for what? as in: tillwatch wait 'intent:ci_… state=completed', or: tillwatch wait relay")
	}
	subject, id, _ := strings.Cut(words[0], ":")
	terms, known := waitTerms()[subject]
	w := &condition{text: strings.Join(words, " "), subject: subject, id: api.ScrubID(id), terms: map[string][]string{}}
	switch {
	case !known:
		return nil, fmt.Errorf("%s cannot be waited for%s", config.Shown(words[0]),
			wording.Suggest(subject, slices.Sorted(maps.Keys(waitTerms()))))
	case (subject == "intent") != (id != ""):
		return nil, fmt.Errorf("%s: write intent:ID, or event or relay without a colon", config.Shown(words[0]))
	case subject == "intent" && session.CheckID(id) != nil:
		return nil, session.CheckID(id)
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case value == "":
			return nil, fmt.Errorf("%s is not a term: write name=value, as in state=completed", config.Shown(word))
		case !slices.Contains(terms, key):
			return nil, fmt.Errorf("%s has no %s%s", subject, config.Shown(key), wording.Suggest(key, terms))
		}
		for v := range strings.SplitSeq(value, ",") {
			if key == "state" && !slices.Contains(asStrings(api.IntentStates()), v) {
				return nil, fmt.Errorf("there is no state %s%s", config.Shown(v), wording.Suggest(v, asStrings(api.IntentStates())))
			}
			if key == "type" && !matchesAny(v) {
				return nil, fmt.Errorf("there is no event type %s%s", config.Shown(v), wording.Suggest(v, eventTypes()))
			}
			w.terms[key] = append(w.terms[key], v)
		}
	}
	if subject == "event" && len(w.terms) == 0 {
		return nil, errors.New("which event? as in type=checkout_intent.completed")
	}
	return w, nil
}

// allows reports whether a term has this value, or is not given.
func (w *condition) allows(term, value string) bool {
	return len(w.terms[term]) == 0 || slices.Contains(w.terms[term], value)
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

// text is empty: how it ended is said on stderr.
func (r *waitReport) text() string { return "" }

// errNever is the error of a condition that can no longer hold.
var errNever = errors.New("it can no longer hold")

// wait waits until the condition holds, which is no error, or can no longer hold, or the time is up.
func (w *condition) wait(ctx context.Context, s settings, atMost, since time.Duration, std streams) (report, error) {
	l := &waiting{condition: w, is: "nothing is known yet", woken: make(chan struct{}, 1), began: time.Now(),
		intents: map[api.ID]api.Intent{}}
	if w.subject != "intent" {
		if err := s.RequireRelay(); err != nil {
			return nil, err
		}
	}
	if w.subject == "intent" || len(w.terms["reference"]) > 0 {
		current, err := session.New(s, session.Options{})
		if err != nil {
			return nil, err
		}
		defer current.Close()
		l.client = current.Client
	}
	fmt.Fprintf(std.words, "waiting for %s, at most %s\n", api.Scrub(w.text), api.Span(atMost))
	limited, stop := context.WithTimeout(ctx, atMost)
	defer stop()
	err := l.run(limited, s, since)
	r := &waitReport{Condition: w.text, Is: string(api.Scrub(l.is)), Intent: w.id, Event: l.event,
		WaitedS: rounded(time.Since(l.began).Seconds()), ExitCode: exitFailed}
	switch {
	case err == nil:
		r.Verdict, r.ExitCode = "met", exitDone
		fmt.Fprintf(std.words, "%s, after %s\n", r.Is, wording.Took(time.Since(l.began)))
		return r, nil
	case errors.Is(err, errNever):
		r.Verdict, r.ExitCode, err = "impossible", exitNotConfirmable, fmt.Errorf("%w: %s", errNever, l.is)
	case ctx.Err() != nil:
		r.Verdict, err = "interrupted", fmt.Errorf("interrupted: %s", l.is)
	case limited.Err() != nil:
		r.Verdict, err = "time_over", fmt.Errorf("the time is up: %s", l.is)
	default:
		r.Verdict, r.Is = "not_checked", string(api.Scrub(err.Error()))
	}
	return r, &exitError{r.ExitCode, err}
}

// waiting checks a condition.
type waiting struct {
	*condition
	client  *api.Client // nil: no reads are needed
	began   time.Time
	is      string // what is known, in words
	event   api.ID
	woken   chan struct{}            // an event of the intent has come
	intents map[api.ID]api.Intent    // what was read for its reference
	ended   bool                     // an event or the relay has decided it
	met     func(is string, e error) // ends the wait of the relay's stream
}

// askEvery is how often an intent is read, whatever events say: confirms and expiries have none. dialEvery
// is how often a relay is dialled that may have started just now.
const (
	askEvery  = 5 * time.Second
	dialEvery = time.Second
)

func (l *waiting) run(ctx context.Context, s settings, since time.Duration) error {
	follow := func(context.Context) error { return nil }
	if s.RelayURL != "" {
		subscriber, err := session.NewSubscriber(s, relay.SubscriberConfig{Since: time.Now().Add(-since), Here: true, Client: "tillwatch wait"})
		if err != nil {
			return err
		}
		follow = func(ctx context.Context) error {
			return session.Alongside(ctx, func(ctx context.Context) error { return subscriber.Run(ctx, l) }, func(ctx context.Context) error {
				for api.Sleep(ctx, dialEvery) == nil {
					subscriber.Retry()
				}
				return nil
			})
		}
	}
	if l.subject == "intent" {
		return session.Alongside(ctx, l.readUntil, func(ctx context.Context) error {
			_ = follow(ctx) // without a stream, reads find out
			return nil
		})
	}
	var outcome error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.met = func(is string, err error) {
		if !l.ended {
			l.is, outcome, l.ended = is, err, true
			stop()
		}
	}
	err := follow(ctx)
	if l.ended {
		return outcome
	}
	return cmp.Or(err, ctx.Err())
}

// readUntil reads the intent until it is in a wanted state.
func (l *waiting) readUntil(ctx context.Context) error {
	l.is = "the intent has not been read"
	for {
		in, err := l.client.Intent(ctx, l.id)
		switch {
		case errors.Is(err, api.ErrMissing):
			l.is = "the service knows no such intent here"
			return errNever
		case errors.Is(err, api.ErrUnauthorized):
			return errUnauthorized
		case err != nil && ctx.Err() == nil:
			l.is, _, _ = strings.Cut(l.is, "; ")
			l.is += "; the last read failed: " + wording.Because(err)
		case err == nil && in.State == "":
			l.is = fmt.Sprintf("the service does not say which state intent %s is in", l.id)
		case err == nil:
			l.is = fmt.Sprintf("intent %s is %s", l.id, wording.Name(string(in.State)))
			if in.Failure != nil {
				l.is += ": " + in.Failure.Code.Words()
			}
			if l.allows("state", string(in.State)) {
				return nil
			}
			if in.State.Terminal() {
				return errNever
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.woken:
		case <-time.After(askEvery):
		}
	}
}

// Status implements [relay.Handler].
func (l *waiting) Status(s relay.Status) {
	switch {
	case l.subject == "intent", l.ended:
	case s.State == relay.Refused:
		l.met("the relay refuses this client: "+wording.Because(s.Err), errNever)
	case s.State == relay.Live && l.subject == "relay":
		l.met("the relay is ready", nil)
	case s.State == relay.Live:
		l.is = "no such event has come"
	case s.Err != nil:
		l.is = "the relay does not answer: " + wording.Because(s.Err)
	}
}

// Events implements [relay.Handler].
func (l *waiting) Events(ctx context.Context, batch []relay.Item) error {
	for i := range batch {
		e := &batch[i].Event
		if l.subject == "intent" {
			if e.Source.ID == l.id {
				select {
				case l.woken <- struct{}{}:
				default: // it is read anyway
				}
			}
			continue
		}
		ofType := len(l.terms["type"]) == 0 || slices.ContainsFunc(l.terms["type"], e.Type.Matches)
		if l.subject != "event" || !ofType || !l.allows("id", string(e.ID)) {
			continue
		}
		if about, err := l.isAbout(ctx, e.Source); err != nil || !about {
			if err != nil {
				return err
			}
			continue
		}
		if l.event = e.ID; e.Source.Type == api.SourceIntent {
			l.id = e.Source.ID
		}
		l.met(fmt.Sprintf("event %s: %s", e.ID, e.Type), nil)
		return nil
	}
	return nil
}

// isAbout reports whether a source belongs to a wanted reference, which only reads say. They are
// repeated until they succeed.
func (l *waiting) isAbout(ctx context.Context, source api.EventSource) (bool, error) {
	if len(l.terms["reference"]) == 0 {
		return true, nil
	}
	for {
		in, err := l.intentOf(ctx, source)
		switch {
		case errors.Is(err, api.ErrUnauthorized):
			l.met(errUnauthorized.Error(), errUnauthorized)
			return false, ctx.Err()
		case err == nil, errors.Is(err, api.ErrMissing), errors.Is(err, api.ErrNotFound):
			return err == nil && slices.Contains(l.terms["reference"], string(in.ReferenceID)), nil
		}
		l.is = "no such event has come; the last read failed: " + wording.Because(err)
		if api.Sleep(ctx, askEvery) != nil {
			return false, ctx.Err()
		}
	}
}

// intentOf is the intent of an event's source, without a reference for a source of another kind.
func (l *waiting) intentOf(ctx context.Context, source api.EventSource) (api.Intent, error) {
	id := source.ID
	switch source.Type {
	case api.SourceIntent:
	case api.SourceShipment:
		sh, err := l.client.Shipment(ctx, source.ID)
		if err != nil {
			return api.Intent{}, err
		}
		id = sh.IntentID
	default:
		return api.Intent{}, nil
	}
	if in, known := l.intents[id]; known {
		return in, nil
	}
	in, err := l.client.Intent(ctx, id)
	if err == nil {
		l.intents[id] = in
	}
	return in, err
}
