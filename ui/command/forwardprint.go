package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/forward"
	"tillwatch/ui/wording"
)

// attemptLine is a delivery after an attempt as --json prints it.
type attemptLine struct {
	delivery.Delivery
	Cursor api.Text `json:"cursor,omitempty"` // empty for a challenge
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

func (l attemptLine) String() string {
	text := fmt.Sprintf("%s  %-34s  %-33s  %-36s  %s  %s", l.Sent.UTC().Format(secondUTC), outcome(&l.Delivery), l.Type, l.Event, l.Target, l.Answer.Body)
	return strings.TrimRight(text, " ") + "\n"
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

// attemptPrinter prints attempts, and ends the command when nobody reads them.
type attemptPrinter struct {
	show   func(forward.Held) error
	stop   context.CancelFunc
	dead   int // events that were given up
	failed error
}

func (p *attemptPrinter) print(h forward.Held) {
	if h.Delivery.State == delivery.Dead {
		p.dead++
	}
	if p.failed != nil {
		return
	}
	if err := p.show(h); err != nil {
		p.failed = fmt.Errorf("printing attempts: %w", err)
		p.stop()
	}
}

// forwardWords reports on stderr how forwarding goes.
type forwardWords struct {
	out  io.Writer
	said map[api.Text]string // the last message about each target
	lost int64               // events that the relay deleted unread
}

// begin reports what earlier runs left.
func (w *forwardWords) begin(f *forward.Forwarder) error {
	waiting, dead, err := f.Left()
	if err != nil {
		return err
	}
	if waiting > 0 {
		fmt.Fprintf(w.out, "From earlier, %s.\n", waits(waiting))
	}
	if dead > 0 {
		fmt.Fprintf(w.out, "From earlier, %s: tillwatch forward dead lists them.\n", countOf(dead, "was given up", "were given up"))
	}
	others, err := f.Elsewhere()
	for _, target := range slices.Sorted(maps.Keys(others)) {
		fmt.Fprintf(w.out, "%s at %s, which is not a target of this run.\n", waits(others[target]), target)
	}
	return err
}

// status reports a change of a target's stream.
func (w *forwardWords) status(target api.Text, s relay.Status, waiting int) {
	words := streamInWords(s)
	switch {
	case s.State == relay.Replaying && s.Resume == relay.ResumeGap:
		w.lost += s.LostTo - s.LostFrom + 1
	case s.State == relay.Live && waiting > 0:
		words = fmt.Sprintf("All stored events have been read; %s.", waits(waiting))
	}
	if words != "" && w.said[target] != words {
		fmt.Fprintf(w.out, "%s: %s\n", target, words)
		w.said[target] = words
	}
}

// streamInWords says what has become of a relay's stream; "" for nothing worth saying.
func streamInWords(s relay.Status) string {
	replays := s.State == relay.Replaying
	switch {
	case s.State == relay.Live:
		return "Live: waiting for events."
	case s.State == relay.Lost:
		return fmt.Sprintf("Lost the relay: %s. Trying again.", api.Scrub(s.Err.Error()))
	case replays && s.Resume == relay.ResumeGap:
		return fmt.Sprintf("The relay no longer has the events %d to %d.", s.LostFrom, s.LostTo)
	case replays && s.Resume == relay.ResumeReset && s.Ahead > 0:
		return fmt.Sprintf("The cursor is at event %d, but the newest is event %d: the journal lost events, or is an older copy. Beginning with the oldest event.", s.Ahead, s.Head)
	case replays && s.Resume == relay.ResumeReset:
		return "The cursor belongs to another journal: beginning with the oldest event."
	}
	return ""
}
