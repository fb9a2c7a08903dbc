package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/ui/session"
)

// eventLine is a stored event as --json prints it.
type eventLine struct {
	Cursor    string             `json:"cursor"`
	Event     account.Event      `json:"event"`
	Conflicts int                `json:"conflicts,omitempty"` // repetitions with another body
	Body      json.RawMessage    `json:"body"`                // masked
	Forwarded *delivery.Delivery `json:"forwarded,omitempty"`
}

func eventLineOf(item relay.Item, cursor string) eventLine {
	d := session.DeliveryOf(item)
	return eventLine{Cursor: cursor, Event: d.Kept(), Conflicts: item.Conflicts, Body: api.Masked(item.Event.Raw)}
}

// secondUTC is the format of times in lines.
const secondUTC = time.DateTime + "Z"

// text is the event in columns of fixed widths, as events come one after another.
func (l eventLine) text() string {
	at := "-"
	if created := l.Event.CreatedAt; !created.IsZero() {
		at = created.UTC().Format(secondUTC)
	}
	notes := l.repetitions()
	if l.Event.Origin != "webhook" {
		notes = append([]string{l.Event.Origin}, notes...)
	}
	if l.Forwarded != nil {
		d, word := *l.Forwarded, "forwarded: "
		if d.Status == 0 {
			word = "not forwarded: "
		}
		if d.Attempts == 1 && d.State == delivery.Dead {
			d.State = "" // it was to be sent once
		}
		notes = append(notes, word+outcome(&d))
	}
	if l.Event.Late {
		notes = append(notes, "late")
	}
	text := fmt.Sprintf("%-27s  %20s  %-33s  %-36s  %s", api.Scrub(l.Cursor), at, l.Event.Type, l.Event.SourceID,
		api.Scrub(strings.Join(notes, ", ")))
	return strings.TrimRight(text, " ") + "\n"
}

// repetitions mentions deliveries after the first.
func (l eventLine) repetitions() (notes []string) {
	if l.Event.Duplicates > 0 {
		notes = append(notes, fmt.Sprintf("delivered again %d×", l.Event.Duplicates))
	}
	if l.Conflicts > 0 {
		notes = append(notes, fmt.Sprintf("with another body %d×", l.Conflicts))
	}
	return notes
}

// maxSources limits the sources whose newest event is remembered.
const maxSources = 10_000

// eventTail prints what a subscriber receives.
type eventTail struct {
	eventsOptions
	std        streams
	subscriber *relay.Subscriber
	stop       context.CancelFunc
	to         *singleSender // nil: print only

	newest map[api.ID]time.Time // when the newest event of each source was created
	words  streamWords
	count  int // of printed events
	failed error
}

// tailEvents prints events from where the options say, to the journal's head or for ever, and sends
// each to an endpoint, unless that is nil.
func tailEvents(ctx context.Context, s settings, o eventsOptions, to *singleSender, std streams) error {
	config, err := eventsFrom(s, o)
	if err != nil {
		return err
	}
	subscriber, err := session.NewSubscriber(s, config)
	if err != nil {
		return err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	tail := &eventTail{eventsOptions: o, std: std, subscriber: subscriber, stop: stop, to: to,
		newest: map[api.ID]time.Time{}}
	err = unlessStuck(reading, func() error { return errors.Join(subscriber.Run(reading, tail), tail.failed) })
	if errors.Is(err, errStuck) {
		return nil
	}
	if err == nil && !o.follow {
		err = ctx.Err() // a list that was cut off is not the whole one
	}
	if to == nil {
		return err
	}
	if err == nil && to.sent == 0 {
		std.say("No event was sent: the relay has stored none of these.")
	}
	return errors.Join(err, to.failure())
}

// fail ends the command with err.
func (t *eventTail) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	t.stop()
	return err
}

// enough reports whether --limit is reached.
func (t *eventTail) enough() bool { return t.limit > 0 && t.count >= t.limit }

// Events implements [relay.Handler].
func (t *eventTail) Events(ctx context.Context, batch []relay.Item) error {
	if t.failed != nil {
		return t.failed
	}
	epoch := t.subscriber.Status().Epoch
	for _, item := range batch {
		if t.enough() {
			break
		}
		line := eventLineOf(item, fmt.Sprintf("%s:%d", epoch, item.Seq))
		t.markLate(&line.Event)
		if !t.finds(&line.Event) {
			continue
		}
		if t.to != nil {
			if line.Forwarded = t.to.send(ctx, item); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := t.std.print(line); err != nil {
			return t.fail(fmt.Errorf("printing events: %w", err))
		}
		t.count++
	}
	if t.enough() {
		t.stop()
	}
	return nil
}

// markLate marks an event that is older than one of the same source before it.
func (t *eventTail) markLate(e *account.Event) {
	newest := t.newest[e.SourceID]
	e.Late = e.CreatedAt.Before(newest) && !e.CreatedAt.IsZero()
	if e.CreatedAt.After(newest) {
		if len(t.newest) >= maxSources {
			clear(t.newest)
		}
		t.newest[e.SourceID] = e.CreatedAt
	}
}

// Status implements [relay.Handler]. Events that the relay no longer has, or cannot read, are told.
func (t *eventTail) Status(s relay.Status) {
	switch {
	case s.State == relay.Live && !t.follow:
		t.stop()
	case s.State == relay.Lost && s.Epoch == "" && !t.follow:
		_ = t.fail(s.Err)
		return
	}
	if words := t.words.news(s); words != "" && (t.follow || s.State != relay.Live) {
		fmt.Fprintln(t.std.words, words)
	}
}
