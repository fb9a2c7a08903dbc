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
		Use:   "wait CONDITION…",
		Short: "Wait for a condition: an intent's state, an event, the relay",
		Long: "Wait for a condition, for scripts and CI. A condition is a subject and its terms, each name=value or several " +
			"values with commas between them; x* is whatever begins with x:\n\n" +
			"  intent:ID state=…             a read shows this state; any, without state\n" +
			"  event type=… reference=… id=… the relay has received such an event\n" +
			"  relay                         it answers, accepts the token and streams\n\n" +
			"An intent is read every 5s, and at once when the relay has an event of it. A reference is known from a read, " +
			"which needs an API key. If an event is named by a reference or an id, those of the last hour count, otherwise " +
			"only new ones; --since changes that.\n\n" +
			"Exit codes: 0 it holds; 1 the time is up, or it could not be checked; 2 wrong usage; 3 it can no longer hold: " +
			"the intent has ended in another state or does not exist, or the relay refuses the token.",
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
	flags.DurationVar(&since, "since", 0,
		"with event: how far back the relay's events count (default 1h if a reference or an id is given)")
	return command
}

// condition is a condition as it was typed.
type condition struct {
	text, subject string
	id            api.ID // of the intent
	terms         map[string][]string
}

func parseCondition(args []string) (*condition, error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) == 0 {
		return nil, errors.New("for what? as in: tillwatch wait 'intent:ci_… state=completed', or: tillwatch wait relay")
	}
	subjects := map[string][]string{"intent": {"state"}, "event": {"id", "reference", "type"}, "relay": nil}
	values := map[string][]string{"state": asStrings(api.IntentStates()), "type": eventTypes()}
	subject, id, _ := strings.Cut(words[0], ":")
	terms, known := subjects[subject]
	w := &condition{text: strings.Join(words, " "), subject: subject, id: api.ScrubID(id), terms: map[string][]string{}}
	switch {
	case !known:
		return nil, fmt.Errorf("%s cannot be waited for%s", config.Shown(words[0]),
			wording.Suggest(subject, slices.Sorted(maps.Keys(subjects))))
	case (subject == "intent") != (id != ""):
		return nil, fmt.Errorf("%s: write intent:ID, or event or relay without a colon", config.Shown(words[0]))
	case subject == "event" && len(words) == 1:
		return nil, errors.New("which event? as in type=checkout_intent.completed")
	case id != "" && session.CheckID(id) != nil:
		return nil, session.CheckID(id)
	}
	for _, word := range words[1:] {
		term, value, _ := strings.Cut(word, "=")
		switch {
		case value == "":
			return nil, fmt.Errorf("%s is not a term: write name=value, as in state=completed", config.Shown(word))
		case !slices.Contains(terms, term):
			return nil, fmt.Errorf("%s has no %s%s", subject, config.Shown(term), wording.Suggest(term, terms))
		}
		w.terms[term] = append(w.terms[term], strings.Split(value, ",")...)
		for _, v := range w.terms[term] {
			if names := values[term]; names != nil && !slices.ContainsFunc(names, matching(v)) {
				return nil, fmt.Errorf("there is no %s %s%s", term, config.Shown(v), wording.Suggest(v, names))
			}
		}
	}
	return w, nil
}

// allows reports whether a term has this value, or is not given.
func (w *condition) allows(term, value string) bool {
	is := func(pattern string) bool { return matching(pattern)(value) }
	return len(w.terms[term]) == 0 || slices.ContainsFunc(w.terms[term], is)
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

// Outcomes of a condition: it holds, or can no longer hold.
var (
	errMet   = errors.New("it holds")
	errNever = errors.New("it can no longer hold")
)

// wait waits until the condition holds, which is no error, or can no longer hold, or the time is up.
func (w *condition) wait(ctx context.Context, s settings, atMost, since time.Duration, std streams) (report, error) {
	began := time.Now()
	l := &waiting{condition: w, is: "nothing is known yet", woken: make(chan struct{}, 1), references: map[api.ID]api.Text{}}
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
		WaitedS: rounded(time.Since(began).Seconds()), ExitCode: exitFailed}
	switch {
	case errors.Is(err, errMet):
		r.Verdict, r.ExitCode = "met", exitDone
		fmt.Fprintf(std.words, "%s, after %s\n", r.Is, wording.Took(time.Since(began)))
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
	client     *api.Client // nil: no reads are needed
	is         string      // what is known, in words
	event      api.ID
	woken      chan struct{}       // an event of the intent has come
	references map[api.ID]api.Text // of the intents that were read for them
	over       bool
	end        context.CancelCauseFunc
}

// An intent is read this often whatever events say: confirms and expiries have none. A relay that may
// have started just now is dialled this often.
const (
	askEvery  = 5 * time.Second
	dialEvery = time.Second
)

// run returns why it ended: errMet, errNever, ctx's error, or why the condition cannot be checked.
func (l *waiting) run(ctx context.Context, s settings, since time.Duration) error {
	ctx, l.end = context.WithCancelCause(ctx)
	defer l.end(nil)
	check := func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if l.subject == "intent" {
		check = l.readUntil
	}
	if s.RelayURL == "" {
		return check(ctx)
	}
	subscriber, err := session.NewSubscriber(s,
		relay.SubscriberConfig{Since: time.Now().Add(-since), Here: true, Client: "tillwatch wait"})
	if err != nil {
		return err
	}
	return session.Alongside(ctx, check, func(ctx context.Context) error {
		if err := subscriber.Run(ctx, l); l.subject != "intent" { // else reads find out
			l.end(err)
		}
		return nil
	}, func(ctx context.Context) error {
		for api.Sleep(ctx, dialEvery) == nil {
			subscriber.Retry()
		}
		return nil
	})
}

// settle ends the wait for the relay.
func (l *waiting) settle(is string, outcome error) {
	if !l.over {
		l.is, l.over = is, true
		l.end(outcome)
	}
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
		case err == nil:
			state := cmp.Or(wording.Name(string(in.State)), "in a state that the service does not say")
			if l.is = fmt.Sprintf("intent %s is %s", l.id, state); in.Failure != nil {
				l.is += ": " + in.Failure.Code.Words()
			}
			switch {
			case in.State != "" && l.allows("state", string(in.State)):
				return errMet
			case in.State.Terminal():
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
	case l.subject == "intent", l.over:
	case s.State == relay.Refused:
		l.settle("the relay refuses this client: "+wording.Because(s.Err), errNever)
	case s.State == relay.Live && l.subject == "relay":
		l.settle("the relay is ready", errMet)
	case s.State == relay.Live:
		l.is = "no such event has come"
	case s.Err != nil:
		l.is = "the relay does not answer: " + wording.Because(s.Err)
	}
}

// Events implements [relay.Handler].
func (l *waiting) Events(ctx context.Context, batch []relay.Item) error {
	for i := range batch {
		switch e := &batch[i].Event; l.subject {
		case "intent":
			if e.Source.ID == l.id && len(l.woken) == 0 { // else it is read anyway
				l.woken <- struct{}{}
			}
		case "event":
			if l.over || !l.allows("type", string(e.Type)) || !l.allows("id", string(e.ID)) {
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
			l.settle(fmt.Sprintf("event %s: %s", e.ID, e.Type), errMet)
		}
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
		reference, err := l.referenceOf(ctx, source)
		switch {
		case errors.Is(err, api.ErrUnauthorized):
			l.settle(errUnauthorized.Error(), errUnauthorized)
			return false, ctx.Err()
		case err == nil:
			return reference != "" && l.allows("reference", string(reference)), nil
		case errors.Is(err, api.ErrMissing), errors.Is(err, api.ErrNotFound):
			return false, nil
		}
		l.is = "no such event has come; the last read failed: " + wording.Because(err)
		if err := api.Sleep(ctx, askEvery); err != nil {
			return false, err
		}
	}
}

// referenceOf is the reference of the intent that an event is about; "" for an event of another kind.
func (l *waiting) referenceOf(ctx context.Context, source api.EventSource) (api.Text, error) {
	id := source.ID
	if source.Type == api.SourceShipment {
		sh, err := l.client.Shipment(ctx, id)
		if err != nil {
			return "", err
		}
		id = sh.IntentID
	} else if source.Type != api.SourceIntent {
		return "", nil
	}
	if reference, known := l.references[id]; known {
		return reference, nil
	}
	in, err := l.client.Intent(ctx, id)
	if err == nil {
		l.references[id] = in.ReferenceID
	}
	return in.ReferenceID, err
}
