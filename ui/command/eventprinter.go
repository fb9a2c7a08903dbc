package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/ui/session"
)

// maxSources limits the sources whose newest event is remembered.
const maxSources = 10_000

// eventPrinter prints what a subscriber receives.
type eventPrinter struct {
	options    eventsOptions
	subscriber *relay.Subscriber
	stdout     io.Writer
	stderr     io.Writer
	stop       context.CancelFunc
	forward    *singleSender // nil: print only

	buffer bytes.Buffer
	lines  lineMaker
	kept   string // the cursor in the file
	words  streamWords
	count  int // of printed events
	failed error
}

// fail ends the command with err.
func (p *eventPrinter) fail(err error) error {
	if p.failed == nil {
		p.failed = err
	}
	p.stop()
	return err
}

// eventLine is a stored event as --json prints it.
type eventLine struct {
	Cursor    string             `json:"cursor"`
	Event     account.Event      `json:"event"`
	Conflicts int                `json:"conflicts,omitempty"` // repetitions with another body
	Body      json.RawMessage    `json:"body"`                // masked
	Forwarded *delivery.Delivery `json:"forwarded,omitempty"`
}

// Events implements [relay.Handler]. Events that are sent are printed one by one, as each is answered.
func (p *eventPrinter) Events(ctx context.Context, batch []relay.Item) error {
	if p.forward == nil {
		return p.print(ctx, batch)
	}
	for i := range batch {
		if err := p.print(ctx, batch[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// print prints a batch, and then saves its cursor.
func (p *eventPrinter) print(ctx context.Context, batch []relay.Item) error {
	if p.failed != nil {
		return p.failed
	}
	epoch := p.subscriber.Status().Epoch
	p.buffer.Reset()
	at := ""
	for _, item := range batch {
		if p.enough() {
			break
		}
		line := p.lines.of(item, fmt.Sprintf("%s:%d", epoch, item.Seq))
		at = line.Cursor
		if !p.options.finds(&line.Event) {
			continue
		}
		if p.forward != nil {
			if line.Forwarded = p.forward.forward(ctx, item); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := printed(&p.buffer, p.options.json, line, line.String()); err != nil {
			return p.fail(err)
		}
		p.count++
	}
	if _, err := p.stdout.Write(p.buffer.Bytes()); err != nil {
		return p.fail(fmt.Errorf("printing events: %w", err))
	}
	err := p.keep(at)
	if p.enough() {
		p.stop()
	}
	return err
}

// enough reports whether --limit is reached.
func (p *eventPrinter) enough() bool { return p.options.limit > 0 && p.count >= p.options.limit }

// lineOfItem makes the line of an event from its cursor.
func lineOfItem(item relay.Item, cursor string) eventLine {
	d := session.DeliveryOf(item)
	return eventLine{Cursor: cursor, Event: d.Kept(), Conflicts: item.Conflicts, Body: api.Masked(item.Event.Raw)}
}

// lineMaker makes the lines of successive events. It holds when the newest event of
// each source was created.
type lineMaker map[api.ID]time.Time

// of makes the line of the next event and marks it if it is late.
func (l lineMaker) of(item relay.Item, cursor string) eventLine {
	line := lineOfItem(item, cursor)
	event := &line.Event
	newest := l[event.SourceID]
	event.Late = event.CreatedAt.Before(newest) && !event.CreatedAt.IsZero()
	if event.CreatedAt.After(newest) {
		if len(l) >= maxSources {
			clear(l)
		}
		l[event.SourceID] = event.CreatedAt
	}
	return line
}

func (l eventLine) String() string {
	at := strings.Repeat(" ", len(time.DateTime)) + "-"
	if created := l.Event.CreatedAt; !created.IsZero() {
		at = created.UTC().Format(secondUTC)
	}
	var notes []string
	if l.Event.Origin != "webhook" {
		notes = append(notes, string(api.Scrub(l.Event.Origin)))
	}
	notes = append(notes, l.repetitions()...)
	if l.Forwarded != nil {
		notes = append(notes, forwardedText(l.Forwarded))
	}
	if l.Event.Late {
		notes = append(notes, "late")
	}
	text := fmt.Sprintf("%-27s  %s  %-33s  %-36s  %s", api.Scrub(l.Cursor), at, l.Event.Type, l.Event.SourceID, strings.Join(notes, ", "))
	return strings.TrimRight(text, " ") + "\n"
}

// forwardedText says whether an endpoint answered.
func forwardedText(d *delivery.Delivery) string {
	sent := *d
	if d.Attempts == 1 && d.State == delivery.Dead {
		sent.State = "" // it was to be sent once
	}
	if d.Status == 0 {
		return "not forwarded: " + outcome(&sent)
	}
	return "forwarded: " + outcome(&sent)
}

// secondUTC is the format of times in lines.
const secondUTC = time.DateTime + "Z"

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

// keep saves the cursor to the --cursor-file, if there is one.
func (p *eventPrinter) keep(cursor string) error {
	if p.options.cursorFile == "" || cursor == "" || cursor == p.kept {
		return nil
	}
	if err := keepCursor(p.options.cursorFile, cursor); err != nil {
		return p.fail(err)
	}
	p.kept = cursor
	return nil
}

// Status implements [relay.Handler]. The cursor also moves past events of other
// types.
func (p *eventPrinter) Status(s relay.Status) {
	follows := p.options.follow
	switch {
	case s.State == relay.Live && p.enough():
		return // the cursor must not pass what was printed
	case s.State == relay.Live:
		_ = p.keep(p.subscriber.Cursor()) // a failure ends the command
		if !follows {
			p.stop()
			return
		}
	case s.State == relay.Lost && s.Epoch == "" && !follows:
		_ = p.fail(s.Err)
		return
	}
	if news := p.words.news(s); news != "" {
		fmt.Fprintln(p.stderr, news)
	}
}
