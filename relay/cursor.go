package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

// cursor is a position in the journal of one epoch, whose name is safe to draw.
type cursor struct {
	epoch string
	seq   int64
	last  string // the id of the event at seq, scrubbed; "" if it is not known
}

// String returns the form in which a cursor is kept: <epoch>:<seq>, and :<id> where the id is known.
func (c cursor) String() string {
	if c.last == "" {
		return c.position()
	}
	return c.position() + ":" + c.last
}

// position returns <epoch>:<seq>, as it is sent.
func (c cursor) position() string { return c.epoch + ":" + strconv.FormatInt(c.seq, 10) }

// after moves the cursor to an event.
func (c cursor) after(seq int64, id string) cursor { return cursor{c.epoch, seq, lastOf(id)} }

// lastOf returns the id of an event as a cursor carries it.
func lastOf(id string) string { return string(api.ScrubID(id)) }

// IsCursor reports whether a text has the form of a cursor.
func IsCursor(text string) bool {
	_, err := parseCursor(text)
	return err == nil
}

func parseCursor(text string) (cursor, error) {
	epoch, rest, found := strings.Cut(text, ":")
	digits, last, _ := strings.Cut(rest, ":")
	seq, err := strconv.ParseInt(digits, 10, 64)
	if !found || epoch == "" || string(api.Scrub(epoch)) != epoch || err != nil || seq < 0 {
		return cursor{}, fmt.Errorf("cursor %.80q is not of the form <epoch>:<seq>", text)
	}
	return cursor{epoch, seq, lastOf(last)}, nil
}

// errAnother says that the event before those to be read is not the one that was read: the journal was replaced,
// or an older copy of it was restored.
var errAnother = errors.New("the journal is another one than before, or has lost its newest events")

// readOn reads what follows a cursor, errAnother if its event is not in the journal. The journal returns that event
// together with what follows it, so that the comparison costs no read of its own.
func readOn(ctx context.Context, j journal.Journal, at cursor, limit int) ([]journal.Record, error) {
	head, err := j.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head < at.seq:
		return nil, errAnother
	case at.last == "" || at.seq == 0:
		return j.Read(ctx, at.seq, limit)
	}
	records, err := j.Read(ctx, at.seq-1, limit+1)
	if err != nil {
		return nil, err
	}
	if err := at.compare(ctx, j, records); err != nil {
		return nil, err
	}
	if len(records) == 0 || records[0].Seq > at.seq {
		return records, nil
	}
	if len(records) == 1 { // its body may be as much as one read returns
		return j.Read(ctx, at.seq, limit)
	}
	return records[1:], nil
}

// compare returns errAnother unless the cursor's event is the first of records. If its record was pruned or is
// damaged, the journal still knows its id.
func (c cursor) compare(ctx context.Context, j journal.Journal, records []journal.Record) error {
	there := len(records) > 0 && records[0].Seq == c.seq
	if there && !records[0].Damaged {
		if lastOf(records[0].ID) != c.last {
			return errAnother
		}
		return nil
	}
	if !there {
		oldest, err := j.Oldest(ctx)
		switch {
		case err != nil:
			return err
		case oldest <= c.seq:
			return errAnother
		}
	}
	record, found, err := j.Find(ctx, c.last)
	if err == nil && (!found || record.Seq != c.seq) {
		err = errAnother
	}
	return err
}

// newest returns the cursor at the head.
func newest(ctx context.Context, j journal.Journal) (cursor, error) {
	at := cursor{epoch: j.Epoch()}
	var err error
	if at.seq, err = j.Head(ctx); err != nil || at.seq == 0 {
		return at, err
	}
	records, err := j.Read(ctx, at.seq-1, 1)
	if err == nil && len(records) > 0 && !records[0].Damaged {
		at = at.after(records[0].Seq, records[0].ID)
	}
	return at, err
}

// sinceSlack is how much earlier a stream begins than asked for: a time by the subscriber's clock is converted too
// late, by the time that its hello took to arrive.
const sinceSlack = 10 * time.Second

// sinceBatch is how many records are read to find one that is not damaged.
const sinceBatch = 10

// before returns the sequence number after which all events received at t or later are stored. Events received
// shortly before may be there too.
func before(ctx context.Context, j journal.Journal, t time.Time, oldest, head int64) (int64, error) {
	t = t.Add(-sinceSlack)
	low, high := oldest-1, head // the answer is between them
	for low < high {
		middle := low + (high-low)/2 // low <= middle < high
		records, err := j.Read(ctx, middle, sinceBatch)
		if err != nil {
			return 0, err
		}
		whole := slices.IndexFunc(records, func(r journal.Record) bool { return !r.Damaged })
		if whole >= 0 && records[whole].Latest.Before(t) {
			low = records[whole].Seq
		} else {
			high = middle
		}
	}
	return low, nil
}

const (
	maxPatterns      = 64
	maxPatternLength = 128
)

// filter is a set of event types: names, and prefixes that end in "*". The empty filter matches everything.
type filter []string

func newFilter(patterns []string) (filter, error) {
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("%d event types are too many: at most %d", len(patterns), maxPatterns)
	}
	for _, p := range patterns {
		if p == "" || len(p) > maxPatternLength || strings.Contains(strings.TrimSuffix(p, "*"), "*") {
			return nil, fmt.Errorf("event type %.80q: give a name, or a beginning and one * at its end, "+
				"as in checkout_intent.*", p)
		}
	}
	return filter(patterns), nil
}

func (f filter) matches(kind string) bool {
	return len(f) == 0 || slices.ContainsFunc(f, api.EventType(kind).Matches)
}
