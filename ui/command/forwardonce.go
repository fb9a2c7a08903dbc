package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
)

// forwarded is the result for one event. Fields are added, never renamed.
type forwarded struct {
	Status   int       `json:"status,omitempty"` // 0: no answer
	Error    api.Text  `json:"error,omitempty"`
	Millis   int64     `json:"ms"`
	Attempts int       `json:"attempts,omitempty"` // with --follow, where an event is retried
	Again    time.Time `json:"again,omitzero"`     // the next attempt
}

func (f forwarded) String() string {
	text := fmt.Sprintf("forwarded: %d in %d ms", f.Status, f.Millis)
	if f.Status == 0 {
		text = fmt.Sprintf("not forwarded: %s", f.Error)
	}
	if f.Attempts > 1 {
		text += fmt.Sprintf(" (attempt %d)", f.Attempts)
	}
	if !f.Again.IsZero() {
		text += ", to be tried again"
	}
	return text
}

// postman delivers stored events to an endpoint, each once.
type postman struct {
	target        string
	sender        forward.Sender
	sent, refused int
}

// newPostman returns nil if there is no endpoint to forward to.
func newPostman(s settings, target, flag string, o senderOptions, stderr io.Writer) (*postman, error) {
	if target == "" {
		return nil, nil
	}
	if err := s.checkTarget(flag, target); err != nil {
		return nil, err
	}
	sender, err := o.sender(s, stderr)
	return &postman{target: target, sender: sender}, err
}

// forward makes one attempt. A refusal by the endpoint is a result, not an error.
func (p *postman) forward(ctx context.Context, item relay.Item) *forwarded {
	d := p.sender.Send(ctx, p.target, item, delivery.Delivery{})
	if p.sent++; d.State != delivery.Delivered {
		p.refused++
	}
	return &forwarded{Status: d.Status, Error: d.Error, Millis: d.Took.Milliseconds()}
}

// outcome is an error if the endpoint did not accept all events.
func (p *postman) outcome() error {
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
		line, d := lines.of(h.Item, h.Cursor), h.Delivery
		line.Forwarded = &forwarded{Status: d.Status, Error: d.Error, Millis: d.Took.Milliseconds(), Attempts: d.Attempts, Again: d.Next}
		return printed(stdout, o.json, line, line.String())
	})
}
