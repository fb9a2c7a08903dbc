package command

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
)

// singleSender delivers stored events to an endpoint, each once.
type singleSender struct {
	target        string
	sender        forward.Sender
	sent, refused int
}

// newSingleSender returns nil if there is no endpoint to forward to.
func newSingleSender(s settings, target, flag string, o senderOptions, stderr io.Writer) (*singleSender, error) {
	if target == "" {
		return nil, nil
	}
	if err := cmp.Or(s.checkTarget(flag, target), o.checkClearText(s, target)); err != nil {
		return nil, err
	}
	sender, err := o.sender(s, stderr)
	return &singleSender{target: target, sender: sender}, err
}

// forward makes one attempt. A refusal by the endpoint is a result, not an error.
func (p *singleSender) forward(ctx context.Context, item relay.Item) *delivery.Delivery {
	event := &item.Event
	d := p.sender.Send(ctx, p.target, item, delivery.Delivery{Target: forward.Shown(p.target), Event: event.ID, Type: event.Type, Source: event.Source.ID, Since: item.Received})
	if p.sent++; d.State != delivery.Delivered {
		p.refused++
		d.State = delivery.Dead // nobody retries
	}
	return new(shown(d))
}

// outcome is an error if the endpoint did not accept all events.
func (p *singleSender) outcome() error {
	if p == nil || p.refused == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s: the endpoint must answer 200 within 5 seconds", p.refused, countOf(p.sent, "was not accepted", "were not accepted"))
}

// followForward prints each event as it arrives, with each attempt to deliver it.
func followForward(ctx context.Context, s settings, o eventsOptions, stdout, stderr io.Writer) error {
	if err := s.checkTarget("--forward-to", o.forwardTo); err != nil {
		return err
	}
	config, err := forwardOptions{to: []string{o.forwardTo}, since: o.since, stateFile: o.cursorFile, challenge: "answer"}.config(s, stderr)
	if err != nil {
		return err
	}
	config.Targets[0].Types = o.types
	lines := lineMaker{}
	return runForwarder(ctx, config, o.limit, stderr, func(h forward.Held) error {
		line := lines.of(h.Item, h.Cursor)
		line.Forwarded = new(shown(h.Delivery))
		return printed(stdout, o.json, line, line.String())
	})
}
