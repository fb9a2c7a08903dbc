package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/relay/forward"
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
	stateFile  string
	giveUp     time.Duration
	challenge  string
	json       bool
}

func newForward() *cobra.Command {
	var o forwardOptions
	command := &cobra.Command{
		Use:   "forward",
		Short: "Deliver a relay's events to other endpoints, each at least once",
		Long: "Deliver the events of a relay to other endpoints as the service does: the exact bytes and the four headers, signed, accepted once they are answered with " +
			"200 within 5 seconds. Each event arrives at least once; a repetition has the same id. Those about one intent, parcel or product arrive in order: one that is not accepted holds up " +
			"the later ones of its source, and no others. It is retried after a second, then less often, at most a minute apart unless the target asks for up to 10 minutes with Retry-After, for up to --give-up while a forwarder runs; then, or once the target answers 410, it is dead: " +
			"tillwatch forward dead lists it and tillwatch forward resend sends it again. The state of deliveries survives the process, however it ends.\n\n" +
			"Events are signed with TILLWATCH_SIGNING_SECRET, or the secret in --signing-secret-file. Their timestamp is the time at which the relay received them.\n\n" +
			"The relay answers the service's verification challenge itself. With --challenge pass, each target must first answer a challenge of its own.\n\n" +
			"Exit codes: 0 all were delivered; 1 it could not run, or the relay refused; 2 wrong usage; 3 some are not delivered yet, and the next run continues with them; " +
			"4 events were given up, or the relay deleted them unread.",
		Example: "tillwatch forward --to http://127.0.0.1:3000/webhooks\n" +
			"tillwatch forward --route 'checkout_intent.*=http://127.0.0.1:3000/orders' --route 'shipment.*=http://127.0.0.1:3001/parcels'\n" +
			"tillwatch forward --to https://staging.example/hooks --since 1h --header-file 'Authorization=token.txt' --json",
		Args: noArguments,
		RunE: configured(func(c *cobra.Command, s settings, _ []string) error {
			ctx, release := untilHangup(c.Context())
			defer release()
			config, err := o.config(s, c.ErrOrStderr())
			if err != nil {
				return err
			}
			return runForwarder(ctx, config, c.ErrOrStderr(), func(h forward.Held) error { return o.print(c.OutOrStdout(), &h) })
		}),
	}
	flags := command.PersistentFlags()
	sourceFlags(flags, "relay_url", "insecure_http", "state_dir")
	senderFlags(flags, &o.sender)
	flags.StringVar(&o.stateFile, "cursor-file", "", "file that keeps each target's progress and undelivered events (default: one per relay in the state folder)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per attempt")
	flags = command.Flags()
	flags.StringArrayVar(&o.to, "to", nil, "endpoint that gets every event, such as http://127.0.0.1:3000/webhooks (repeatable)")
	flags.StringArrayVar(&o.routes, "route", nil, "endpoint for an event type or its beginning, such as 'shipment.*=http://127.0.0.1:3000/parcels' (repeatable)")
	flags.StringVar(&o.since, "since", "", "where a new target begins: a cursor, an age such as 1h, an RFC 3339 time, earliest or latest (default latest)")
	spanFlag(flags, &o.giveUp, "give-up", forward.GiveUp.String(), "how long to retry an event")
	flags.StringVar(&o.challenge, "challenge", "answer", "the verification challenge: answer (the relay does), or pass (each target must answer one, too)")
	command.AddCommand(newForwardDead(&o), newForwardResend(&o))
	return command
}

// config is the forwarder's configuration; nothing prints its attempts yet.
func (o forwardOptions) config(s settings, stderr io.Writer) (forward.Config, error) {
	var c forward.Config
	targets, err := routesOf(s, o.to, o.routes)
	if err != nil {
		return c, err
	}
	for _, target := range targets {
		if err := o.sender.checkClearText(s, target.URL); err != nil {
			return c, err
		}
	}
	if o.challenge != "answer" && o.challenge != "pass" {
		return c, usagef("--challenge must be answer or pass, not %q", o.challenge)
	}
	begin, err := eventsFrom(s, eventsOptions{follow: true, since: o.since})
	if err != nil {
		return c, err
	}
	begin.Client = "tillwatch forward"
	c = forward.Config{
		State: o.statePath(s), Targets: targets, GiveUp: o.giveUp, Challenge: o.challenge == "pass",
		Subscribe: func(t forward.Target, cursor string) (forward.Source, error) {
			config := begin
			if config.Types = t.Types; cursor != "" {
				config.Cursor = cursor
				if o.since != "" {
					fmt.Fprintf(stderr, "%s continues where it was: --since applies only to a new target.\n", forward.Shown(t.URL))
				}
			}
			return newSubscriber(s, config)
		},
	}
	c.Sender, err = o.sender.sender(s, stderr)
	return c, err
}

// statePath is the state file: one per relay, unless another is given.
func (o forwardOptions) statePath(s settings) string {
	if o.stateFile != "" {
		return o.stateFile
	}
	sum := sha256.Sum256([]byte(s.RelayURL))
	return filepath.Join(s.StateDir, "forward-"+hex.EncodeToString(sum[:4])+".db")
}

// runForwarder forwards until ctx ends. It shows each attempt, and reports what is left.
func runForwarder(ctx context.Context, config forward.Config, stderr io.Writer, show func(forward.Held) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	words := &forwardWords{out: stderr, said: map[api.Text]string{}}
	printer := &attemptPrinter{show: show, stop: stop}
	config.Attempted, config.Status = printer.print, words.status
	f, err := forward.Open(config)
	if err != nil {
		return err
	}
	if err := words.begin(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = f.Run(ctx)
	left := leftOf(f, printer.dead, words.lost)
	if err = errors.Join(err, printer.failed, f.Close()); err != nil {
		return err
	}
	return left
}

// leftOf reports undelivered events as an error with its exit code.
func leftOf(f *forward.Forwarder, dead int, lost int64) error {
	waiting, _, err := f.Left()
	switch {
	case err != nil:
		return err
	case dead > 0:
		return &exitError{exitDead, fmt.Errorf("%s given up, and %s: tillwatch forward dead lists what was given up, tillwatch forward resend sends it again",
			countOf(dead, "was", "were"), waits(waiting))}
	case lost > 0:
		return &exitError{exitDead, fmt.Errorf("the relay no longer had %s", countOf(int(lost), "it had not sent", "it had not sent"))}
	case waiting > 0:
		return &exitError{exitWaiting, fmt.Errorf("%s: the next run continues with what is left", waits(waiting))}
	}
	return nil
}

func waits(n int) string { return countOf(n, "is not delivered yet", "are not delivered yet") }

// countOf counts events in words.
func countOf(n int, one, more string) string {
	return wording.Counted(n, "event "+one, "events "+more)
}

// forward forwards until ctx ends. If it cannot, an alert says so, and the session goes on.
func (s *session) forward(ctx context.Context) error {
	if err := s.forwarder.Run(ctx); err != nil && ctx.Err() == nil {
		s.store.Report(account.AlertForwarding, fmt.Errorf("events are no longer forwarded, start again to go on: %w", err))
	}
	return nil
}

// forwardTo has the session forward its relay's events to endpoints while it runs.
func (s *session) forwardTo(targets []string, words io.Writer) error {
	if len(targets) == 0 {
		return nil
	}
	for _, target := range targets {
		if err := checkTarget(s.settings, "--forward-to", target); err != nil {
			return err
		}
	}
	if err := s.settings.RequireRelay(); err != nil {
		return err
	}
	config, err := forwardOptions{to: targets, challenge: "answer"}.config(s.settings, words)
	if err != nil {
		return err
	}
	s.forwarder, err = forward.Open(config)
	return err
}
