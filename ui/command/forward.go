package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// Exit codes of forward, besides those of every command.
const (
	exitWaiting = 3 // events wait for another attempt
	exitDead    = 4 // events were given up, or the relay let them go before they were read
)

type forwardOptions struct {
	sender     senderOptions
	to, routes []string
	since      string
	giveUp     time.Duration
}

func newForward() *cobra.Command {
	var o forwardOptions
	command := &cobra.Command{
		Use:   "forward",
		Short: "Deliver a relay's events to other endpoints, each at least once",
		Long: "Deliver the events of a relay to other endpoints as the service does: the exact bytes and the " +
			"four headers, signed with TILLWATCH_SIGNING_SECRET, accepted once they are answered with 200 within " +
			"5 seconds. Each event arrives at least once, and in order; a repetition has the same id. One that is " +
			"not accepted holds up those after it. It is sent again after a second, then less often, at most a " +
			"minute apart unless the endpoint asks for more with Retry-After, for up to --give-up. Then it is " +
			"dead: tillwatch forward dead lists it, and tillwatch forward resend sends it again. The state folder " +
			"keeps how far each endpoint has got: the next run goes on there.\n\n" +
			"Exit codes: 0 all were delivered; 1 it could not run, or the relay refused; 2 wrong usage; 3 some " +
			"are not delivered yet, or the relay could not be reached: the next run continues with them; 4 events were given up, or the relay lost " +
			"them unread.",
		Example: "tillwatch forward --to http://127.0.0.1:3000/webhooks\n" +
			"tillwatch forward --route 'checkout_intent.*=http://127.0.0.1:3000/orders' \\\n" +
			"  --route 'shipment.*=http://127.0.0.1:3001/parcels'\n" +
			"tillwatch forward --to https://staging.example/hooks --since 1h --header 'Authorization: @token.txt'",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			ctx, release := untilHangup(ctx)
			defer release()
			return nil, o.forward(ctx, s, std)
		}),
	}
	flags := command.PersistentFlags()
	config.AddFlags(flags, "relay_url", "insecure_http", "state_dir")
	senderFlags(flags, &o.sender)
	jsonFlag(flags, "print one JSON object per attempt")
	flags = command.Flags()
	flags.StringArrayVar(&o.to, "to", nil,
		"endpoint that gets every event, such as http://127.0.0.1:3000/webhooks (repeatable)")
	flags.StringArrayVar(&o.routes, "route", nil,
		"endpoint for an event type or its beginning, such as 'shipment.*=http://127.0.0.1:3000/parcels' (repeatable)")
	flags.StringVar(&o.since, "since", "",
		"where a new endpoint begins: a cursor, an age such as 1h, an RFC 3339 time, earliest or latest "+
			"(default latest)")
	spanFlag(flags, &o.giveUp, "give-up", forward.GiveUp.String(), "how long to try an event")
	command.AddCommand(newForwardDead(), newForwardResend(&o.sender))
	return command
}

// attemptLine is a delivery after an attempt, as it is printed.
type attemptLine struct {
	delivery.Delivery
	Cursor api.Text `json:"cursor,omitempty"`
}

func attemptOf(a forward.Attempt) attemptLine {
	return attemptLine{shown(a.Delivery), api.Scrub(a.Cursor)}
}

func (l attemptLine) text() string {
	text := fmt.Sprintf("%s  %-34s  %-33s  %-36s  %s  %s",
		l.Sent.UTC().Format(secondUTC), outcome(&l.Delivery), l.Type, l.Event, l.Target, l.Answer.Body)
	return strings.TrimRight(text, " ") + "\n"
}

// shown is a delivery without its request, and with a masked answer in one line.
func shown(d delivery.Delivery) delivery.Delivery {
	answer := api.MaskAddress(api.Scrub(string(d.Answer.Body)))
	d.Type, d.Request, d.Answer = api.EventType(api.Scrub(string(d.Type))), delivery.Message{}, delivery.Message{}
	if answer != "" {
		d.Answer.Body = delivery.Body(answer)
	}
	return d
}

// outcome says how the last attempt ended, and what follows.
func outcome(d *delivery.Delivery) string {
	text := fmt.Sprintf("%d in %s", d.Status, wording.Took(d.Took))
	if d.Error != "" {
		text = string(d.Error)
	}
	switch {
	case d.State == delivery.Dead:
		text += fmt.Sprintf(", given up (attempt %d)", d.Attempts)
	case !d.Next.IsZero():
		text += fmt.Sprintf(", again in %s (attempt %d)", wording.Until(d.Next.Sub(d.Sent.Add(d.Took))), d.Attempts)
	case d.Attempts > 1:
		text += fmt.Sprintf(" (attempt %d)", d.Attempts)
	}
	return text
}

// forward forwards until ctx ends, prints each attempt and says what is left.
func (o *forwardOptions) forward(ctx context.Context, s settings, std streams) error {
	targets, err := o.targets(s)
	if err != nil {
		return err
	}
	begin, err := eventsFrom(s, eventsOptions{follow: true, since: o.since})
	if err != nil {
		return err
	}
	begin.Client = "tillwatch forward"
	sender, err := o.sender.sender(s, std)
	if err != nil {
		return err
	}
	words := map[api.Text]*streamWords{}
	for _, t := range targets {
		words[forward.Shown(t.URL)] = &streamWords{}
	}
	result, err := forward.Run(ctx, forward.Config{
		State: forwardFolder(s), Relay: s.RelayURL, Targets: targets, GiveUp: o.giveUp, Sender: sender,
		Subscribe: func(t forward.Target, cursor string) (forward.Source, error) {
			follow := begin
			follow.Types, follow.Cursor = t.Types, cmp.Or(cursor, begin.Cursor)
			return session.NewSubscriber(s, follow)
		},
		OnAttempt: func(a forward.Attempt) error { return std.print(attemptOf(a)) },
		OnStatus: func(target api.Text, status relay.Status) {
			if news := words[target].news(status); news != "" {
				std.say("%s: %s", target, news)
			}
		},
	})
	switch {
	case err != nil:
		return err
	case result.Dead > 0:
		return &exitError{exitDead, fmt.Errorf("gave up %s: tillwatch forward dead lists what was given up, "+
			"tillwatch forward resend sends it again", countOf(result.Dead))}
	case result.Lost > 0:
		return &exitError{exitDead, fmt.Errorf("the relay no longer had %s that it had not sent",
			countOf(int(result.Lost)))}
	case result.Waiting > 0:
		return &exitError{exitWaiting, fmt.Errorf("not delivered yet: %s: the next run continues with what is left",
			countOf(result.Waiting))}
	}
	for _, w := range words {
		if !w.reached {
			return &exitError{exitWaiting, errors.New("the relay could not be reached: what it has may not be " +
				"delivered yet, and the next run continues with it")}
		}
	}
	return nil
}

func forwardFolder(s settings) string { return filepath.Join(s.StateDir, "forward") }

// streamWords says what becomes of a relay's stream, nothing twice.
type streamWords struct {
	said    string
	lostTo  int64 // of the latest gap
	reached bool  // the relay's stream is open
}

// news returns a sentence, or "" for nothing new.
func (w *streamWords) news(s relay.Status) string {
	w.reached = s.State == relay.Live || s.State == relay.Replaying
	if gap := s.LostFrom > 0 && s.LostTo != w.lostTo; gap {
		w.lostTo = s.LostTo
		return fmt.Sprintf("The relay no longer has the events %d to %d.", s.LostFrom, s.LostTo)
	}
	words := w.said
	switch {
	case s.State == relay.Live:
		words = "Live: waiting for events."
	case s.State == relay.Lost:
		words = fmt.Sprintf("Lost the relay: %s. Trying again.", api.Scrub(s.Err.Error()))
	case s.State == relay.Replaying && s.Resume == relay.ResumeReset && s.Ahead > 0:
		words = fmt.Sprintf("The cursor is at event %d, but the newest is event %d: the journal lost events, or is "+
			"an older copy. Beginning with the oldest event.", s.Ahead, s.Head)
	case s.State == relay.Replaying && s.Resume == relay.ResumeReset:
		words = "The cursor belongs to another journal: beginning with the oldest event."
	}
	if words == w.said {
		return ""
	}
	w.said = words
	return words
}

// targets are the endpoints of --to and --route; routes to the same address share one.
func (o *forwardOptions) targets(s settings) (all []forward.Target, err error) {
	types := map[string][]string{} // by address; nil: all of them
	for _, route := range o.routes {
		pattern, address, found := strings.Cut(route, "=")
		if !found || pattern == "" || strings.Contains(pattern, "/") {
			return nil, usagef("--route: give an event type and an endpoint, " +
				"as in 'shipment.*=http://127.0.0.1:3000/parcels'")
		}
		if err := checkTypes("--route", []string{pattern}); err != nil {
			return nil, err
		}
		types[address] = append(types[address], pattern)
	}
	for _, address := range o.to {
		types[address] = nil
	}
	for address, wanted := range types {
		if err := o.sender.checkTarget(s, address); err != nil {
			return nil, err
		}
		all = append(all, forward.Target{URL: address, Types: wanted})
	}
	if len(all) == 0 {
		return nil, usagef("where to? give --to http://127.0.0.1:3000/webhooks, or --route for each event type")
	}
	return all, nil
}

func newForwardDead() *cobra.Command {
	return &cobra.Command{
		Use:     "dead",
		Short:   "List the events that were given up, with the last answer to each",
		Example: "tillwatch forward dead\ntillwatch forward dead --json",
		RunE: reporting(func(_ context.Context, s settings, _ []string, std streams) (report, error) {
			if err := config.RequireFolder(s.StateDir); err != nil {
				return nil, err
			}
			n := 0
			for a, err := range forward.Dead(forwardFolder(s)) {
				if err := errors.Join(err, std.print(attemptOf(a))); err != nil {
					return nil, err
				}
				n++
			}
			if n == 0 {
				std.say("no event was given up")
			}
			return nil, nil
		}),
	}
}

func newForwardResend(sender *senderOptions) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "resend [ID…] [--all]",
		Short: "Resend events that were given up",
		Long: "Resend events that were given up, each once, to the endpoint that did not accept it. " +
			"An accepted event is no longer dead. A forwarder may be running.\n\n" +
			"Exit codes: 0 all were accepted; 1 some were not, or are not dead; 2 wrong usage.",
		Example: "tillwatch forward resend evt_ci_42_completed\ntillwatch forward resend --all",
		RunE: reporting(func(ctx context.Context, s settings, ids []string, std streams) (report, error) {
			if all == (len(ids) > 0) {
				return nil, usagef("which events? give their IDs, or --all")
			}
			return nil, resendDead(ctx, s, *sender, ids, std)
		}),
	}
	command.Flags().BoolVar(&all, "all", false, "resend all of them")
	return command
}

// resendDead resends the dead events that ids name, or all without ids.
func resendDead(ctx context.Context, s settings, o senderOptions, ids []string, std streams) error {
	if err := config.RequireFolder(s.StateDir); err != nil {
		return err
	}
	sender, err := o.sender(s, std)
	if err != nil {
		return err
	}
	var count sentCount
	missing := slices.Clone(ids)
	for a, err := range forward.Dead(forwardFolder(s)) {
		if err != nil {
			return err
		}
		id := string(a.Event.ID)
		if len(ids) > 0 && !slices.Contains(ids, id) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == id })
		if err := o.checkTarget(s, a.Target); err != nil {
			return err
		}
		if a, err = forward.Resend(ctx, sender, a); err != nil {
			return err
		}
		count.add(a.Delivery)
		if err := std.print(attemptOf(a)); err != nil {
			return err
		}
	}
	failed := count.failure()
	for _, id := range missing {
		failed = errors.Join(failed,
			fmt.Errorf("%s is not dead: tillwatch events resend sends any stored event", api.ScrubID(id)))
	}
	if failed == nil && count.sent == 0 {
		std.say("no event was given up")
	}
	return failed
}
