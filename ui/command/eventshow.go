package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/config"
)

// maxQuarantined is how many quarantined bodies are listed.
const maxQuarantined = 50

// newReader makes a reader of the configured relay.
func newReader(s settings) (*relay.Reader, error) {
	if err := s.RequireRelay(); err != nil {
		return nil, err
	}
	reader, err := relay.NewReader(relay.ReaderConfig{URL: s.RelayURL, Token: s.RelayToken, InsecureHTTP: s.InsecureHTTP})
	if err != nil {
		return nil, config.WrongAddress(err)
	}
	return reader, nil
}

// showEvent prints one event: for people, as a line of --json, or as its exact bytes.
func showEvent(ctx context.Context, s settings, o eventsOptions, id string, stdout io.Writer) error {
	if o.raw {
		if file, ok := stdout.(*os.File); ok && term.IsTerminal(file.Fd()) {
			return usagef("--raw prints the exact bytes, which could harm a terminal: send them to a file or a pipe")
		}
	}
	reader, err := newReader(s)
	if err != nil {
		return err
	}
	defer reader.Close()
	item, cursor, err := reader.Event(ctx, id)
	switch {
	case err != nil:
		return err
	case o.raw:
		_, err = stdout.Write(item.Event.Raw)
		return err
	}
	line := lineOfItem(item, cursor)
	return printed(stdout, o.json, line, line.sheet())
}

// sheet is the event on several lines.
func (l eventLine) sheet() string {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	e := &l.Event
	rows := []fact{
		{"event", string(e.ID)}, {"type", string(e.Type)}, {"source", string(e.SourceID)}, {"created", stamp(e.CreatedAt)}, {"received", stamp(e.Received) + " by " + e.Origin},
		{"again", strings.Join(l.repetitions(), ", ")}, {"cursor", l.Cursor},
	}
	var body bytes.Buffer
	if json.Indent(&body, l.Body, "", "  ") != nil {
		body.Reset()
		body.Write(l.Body)
	}
	return facts("", rows...) + "\n" + body.String() + "\n"
}

// quarantineLine is a signed body that is not an event, as --json prints it. Fields
// are added, never renamed.
type quarantineLine struct {
	Received time.Time `json:"received"`
	Reason   api.Text  `json:"reason"`
	Bytes    int       `json:"bytes"`
	Body     string    `json:"body"`         // masked; only its length if it is not JSON
	Raw      []byte    `json:"raw,omitzero"` // the exact body, with --raw
}

// showQuarantine prints the newest signed bodies that are not events.
func showQuarantine(ctx context.Context, s settings, o eventsOptions, stdout, stderr io.Writer) error {
	reader, err := newReader(s)
	if err != nil {
		return err
	}
	defer reader.Close()
	limit := maxQuarantined
	if o.limit > 0 {
		limit = min(limit, o.limit)
	}
	all, more, err := reader.Quarantine(ctx, limit)
	if err != nil {
		return err
	}
	for _, q := range all {
		line := quarantineLine{Received: q.Received, Reason: api.Scrub(q.Reason), Bytes: len(q.Body), Body: string(api.Masked(q.Body))}
		if o.raw {
			line.Raw = q.Body
		}
		text := fmt.Sprintf("%s  %7d bytes  %-28s  %s\n", q.Received.UTC().Format(secondUTC), line.Bytes, line.Reason, line.Body)
		if err := printed(stdout, o.json, line, text); err != nil {
			return err
		}
	}
	switch {
	case len(all) == 0:
		fmt.Fprintln(stderr, "None: every signed body was an event.")
	case more:
		fmt.Fprintf(stderr, "These are the newest %d; there are more.\n", len(all))
	}
	return nil
}

// check refuses options that do not go together.
func (o eventsOptions) check(flags *pflag.FlagSet, args []string) error {
	one := len(args) == 1
	streaming := o.follow || o.since != "" || o.cursorFile != "" || len(o.types) > 0 || o.last > 0 || o.filterText != ""
	switch {
	case one && args[0] == "":
		return usagef("the ID is empty")
	case one && (streaming || o.quarantined || o.limit > 0):
		return usagef("an ID selects one event: only --json and --raw go with it")
	case o.quarantined && streaming:
		return usagef("--quarantined lists bodies that are not events: only --json, --raw and --limit go with it")
	case o.raw && one && o.json:
		return usagef("choose one: --raw prints the exact bytes, --json an object")
	case o.raw && !one && (!o.quarantined || !o.json):
		return usagef("--raw needs the ID of an event, or --quarantined --json")
	case o.last > 0 && (o.since != "" || o.cursorFile != ""):
		return usagef("choose one of --last, --since and --cursor-file: each says where to begin")
	case flags.Changed("limit") && o.limit < 1 || flags.Changed("last") && o.last < 1:
		return usage(errors.New("--limit and --last must be above 0"))
	}
	return checkTypes("--type", o.types)
}
