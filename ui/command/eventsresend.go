package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
)

func newEventsResend() *cobra.Command {
	var o eventsOptions
	command := &cobra.Command{
		Use:   "resend ID... --to URL | --since 10m --to URL",
		Short: "Resend stored events to an endpoint, each once and in order",
		Long: "Resend stored events to an endpoint: the given IDs, or those since a time, limited by --type. Each is " +
			"sent once, one after another, as tillwatch forward does, and printed with the answer.\n\n" +
			"Exit codes: 0 all were accepted; 1 some were not; 2 wrong usage. IDs need a token with the scope read.",
		Example: "tillwatch events resend evt_ci_42_completed --to http://127.0.0.1:3000/webhooks\n" +
			"tillwatch events resend --since 10m --type 'shipment.*' --to http://127.0.0.1:3000/webhooks",
		RunE: configured(func(c *cobra.Command, s settings, ids []string) error {
			switch {
			case o.to == "":
				return usagef("where to? give --to http://127.0.0.1:3000/webhooks")
			case (len(ids) > 0) == (o.since != ""):
				return usagef("which events? give their IDs, or --since 10m")
			case len(ids) > 0 && len(o.types) > 0:
				return usagef("an ID selects one event: leave out --type")
			}
			if err := o.sender.checkTarget(s, "--to", o.to); err != nil {
				return err
			}
			if len(ids) > 0 {
				return resendEvents(c.Context(), s, o, ids, c.OutOrStdout(), c.ErrOrStderr())
			}
			if err := checkTypes("--type", o.types); err != nil {
				return err
			}
			return runEvents(c.Context(), s, o, c.OutOrStdout(), c.ErrOrStderr())
		}),
	}
	flags := command.Flags()
	sourceFlags(flags, "relay_url", "insecure_http")
	senderFlags(flags, &o.sender)
	flags.StringVar(&o.to, "to", "", "the endpoint, such as http://127.0.0.1:3000/webhooks")
	flags.StringVar(&o.since, "since", "", "where to begin: a cursor, an age such as 10m, an RFC 3339 time or earliest")
	flags.StringSliceVar(&o.types, "type", nil, "event type to send, or its beginning, such as shipment.* (repeatable)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object per line")
	return command
}

// resendEvents resends the events with these ids.
func resendEvents(ctx context.Context, s settings, o eventsOptions, ids []string, stdout, stderr io.Writer) error {
	reader, err := newReader(s)
	if err != nil {
		return err
	}
	defer reader.Close()
	to, err := newSingleSender(s, o.to, o.sender, streams{words: stderr})
	if err != nil {
		return err
	}
	var wrong []error
	for _, id := range ids {
		item, cursor, err := reader.Event(ctx, string(api.ScrubID(id)))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", api.ScrubID(id), err))
			continue
		}
		line := lineOfItem(item, cursor)
		if line.Forwarded = to.forward(ctx, item); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := printed(stdout, o.json, line, line.String()); err != nil {
			return err
		}
	}
	return errors.Join(append(wrong, to.outcome())...)
}

// singleSender delivers stored events to an endpoint, each once.
type singleSender struct {
	target string
	sender forward.Sender
	sentCount
}

// newSingleSender returns nil if there is no endpoint to send to.
func newSingleSender(s settings, target string, o senderOptions, std streams) (*singleSender, error) {
	if target == "" {
		return nil, nil
	}
	sender, err := o.sender(s, std)
	return &singleSender{target: target, sender: sender}, err
}

// forward makes one attempt. A refusal by the endpoint is a result, not an error.
func (p *singleSender) forward(ctx context.Context, item relay.Item) *delivery.Delivery {
	d := p.sender.Send(ctx, p.target, item, forward.NewDelivery(p.target, item))
	p.add(d)
	if d.State != delivery.Delivered {
		d.State = delivery.Dead // nobody retries
	}
	return new(shown(d))
}

// outcome is an error if the endpoint did not accept all events.
func (p *singleSender) outcome() error {
	if p == nil {
		return nil
	}
	return p.failure()
}
