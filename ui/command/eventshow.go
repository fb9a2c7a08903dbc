package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/config"
)

// newReader makes a reader of the configured relay.
func newReader(s settings) (*relay.Reader, error) {
	if err := s.RequireRelay(); err != nil {
		return nil, err
	}
	reader, err := relay.NewReader(relay.Access{URL: s.RelayURL, Token: s.RelayToken, InsecureHTTP: s.InsecureHTTP})
	if err != nil {
		return nil, config.WrongAddress(err)
	}
	return reader, nil
}

// shownEvent is one event for itself.
type shownEvent struct{ eventLine }

func (e shownEvent) text() string {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	var body bytes.Buffer
	if json.Indent(&body, e.Body, "", "  ") != nil {
		body.Reset()
		body.Write(e.Body)
	}
	return sheet(fact{"event", string(e.Event.ID)}, fact{"type", string(e.Event.Type)}, fact{"source", string(e.Event.SourceID)},
		fact{"created", stamp(e.Event.CreatedAt)}, fact{"received", stamp(e.Event.Received) + " by " + e.Event.Origin},
		fact{"again", strings.Join(e.repetitions(), ", ")}, fact{"cursor", e.Cursor}) + "\n" + body.String() + "\n"
}

// showEvent shows one event, or with --raw prints its exact bytes.
func showEvent(ctx context.Context, s settings, o eventsOptions, id string, std streams) (report, error) {
	if file, ok := std.out.(*os.File); ok && o.raw && term.IsTerminal(file.Fd()) {
		return nil, usagef("--raw prints the exact bytes, which could harm a terminal: send them to a file or a pipe")
	}
	reader, err := newReader(s)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	item, cursor, err := reader.Event(ctx, id)
	if err != nil {
		return nil, err
	}
	if o.raw {
		_, err = std.out.Write(item.Event.Raw)
		return nil, err
	}
	return shownEvent{eventLineOf(item, cursor)}, nil
}

// maxQuarantined is how many quarantined bodies are listed.
const maxQuarantined = 50

// quarantineLine is a signed body that is not an event, as --json prints it. Fields
// are added, never renamed.
type quarantineLine struct {
	Received time.Time `json:"received"`
	Reason   api.Text  `json:"reason"`
	Bytes    int       `json:"bytes"`
	Body     string    `json:"body"`         // masked; only its length if it is not JSON
	Raw      []byte    `json:"raw,omitzero"` // the exact body, with --raw
}

// showQuarantine lists the newest signed bodies that are not events.
func showQuarantine(ctx context.Context, s settings, o eventsOptions, std streams) (report, error) {
	reader, err := newReader(s)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	limit := maxQuarantined
	if o.limit > 0 {
		limit = min(limit, o.limit)
	}
	all, more, err := reader.Quarantine(ctx, limit)
	if err != nil {
		return nil, err
	}
	var lines []quarantineLine
	rows := [][]string{{"RECEIVED", "BYTES", "REASON", "BODY"}}
	for _, q := range all {
		line := quarantineLine{Received: q.Received, Reason: api.Scrub(q.Reason), Bytes: len(q.Body), Body: string(api.Masked(q.Body))}
		if o.raw {
			line.Raw = q.Body
		}
		lines = append(lines, line)
		rows = append(rows, []string{q.Received.UTC().Format(secondUTC), fmt.Sprint(line.Bytes), string(line.Reason), line.Body})
	}
	switch {
	case len(all) == 0:
		std.say("none: every signed body was an event")
		return nil, nil
	case more:
		std.say("these are the newest %d; there are more", len(all))
	}
	return listOf(lines, table(rows...)), nil
}

func newEventsResend() *cobra.Command {
	var o eventsOptions
	var sender senderOptions
	var to string
	command := &cobra.Command{
		Use:   "resend [ID…] --to URL",
		Short: "Resend stored events to an endpoint, each once and in order",
		Long: "Resend stored events to an endpoint: the given IDs, or those since a time, limited by --type. Each is sent once, one " +
			"after another, as tillwatch forward does, and printed with the answer.\n\n" +
			"Exit codes: 0 all were accepted; 1 some were not; 2 wrong usage. IDs need a token with the scope read.",
		Example: "tillwatch events resend evt_ci_42_completed --to http://127.0.0.1:3000/webhooks\n" +
			"tillwatch events resend --since 10m --type 'shipment.*' --to http://127.0.0.1:3000/webhooks",
		RunE: reporting(func(ctx context.Context, s settings, ids []string, std streams) (report, error) {
			switch {
			case to == "":
				return nil, usagef("where to? give --to http://127.0.0.1:3000/webhooks")
			case (len(ids) > 0) == (o.since != ""):
				return nil, usagef("which events? give their IDs, or --since 10m")
			case len(ids) > 0 && len(o.types) > 0:
				return nil, usagef("an ID selects one event: leave out --type")
			}
			endpoint, err := newSingleSender(s, to, sender, std)
			if err != nil {
				return nil, err
			}
			if len(ids) > 0 {
				return nil, resendEvents(ctx, s, endpoint, ids, std)
			}
			if err := checkTypes("--type", o.types); err != nil {
				return nil, err
			}
			return nil, tailEvents(ctx, s, o, endpoint, std)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "relay_url", "insecure_http")
	senderFlags(flags, &sender)
	flags.StringVar(&to, "to", "", "the endpoint, such as http://127.0.0.1:3000/webhooks")
	flags.StringVar(&o.since, "since", "", "where to begin: a cursor, an age such as 10m, an RFC 3339 time or earliest")
	flags.StringSliceVar(&o.types, "type", nil, "event type to send, or its beginning, such as shipment.* (repeatable)")
	jsonFlag(flags, "print one JSON object per line")
	return command
}

// resendEvents resends the events with these ids. Those that are not there do not keep the others back.
func resendEvents(ctx context.Context, s settings, to *singleSender, ids []string, std streams) error {
	reader, err := newReader(s)
	if err != nil {
		return err
	}
	defer reader.Close()
	var wrong []error
	for _, id := range ids {
		item, cursor, err := reader.Event(ctx, string(api.ScrubID(id)))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", api.ScrubID(id), err))
			continue
		}
		line := eventLineOf(item, cursor)
		if line.Forwarded = to.send(ctx, item); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := std.print(line); err != nil {
			return err
		}
	}
	return errors.Join(append(wrong, to.failure())...)
}

// singleSender delivers stored events to an endpoint, each once.
type singleSender struct {
	target string
	sender forward.Sender
	sentCount
}

func newSingleSender(s settings, target string, o senderOptions, std streams) (*singleSender, error) {
	if err := o.checkTarget(s, target); err != nil {
		return nil, err
	}
	sender, err := o.sender(s, std)
	return &singleSender{target: target, sender: sender}, err
}

// send makes one attempt. A refusal by the endpoint is a result, not an error.
func (p *singleSender) send(ctx context.Context, item relay.Item) *delivery.Delivery {
	d := p.sender.Send(ctx, p.target, item, forward.NewDelivery(p.target, item))
	p.add(d)
	if d.State != delivery.Delivered {
		d.State = delivery.Dead // nobody retries
	}
	return new(shown(d))
}
