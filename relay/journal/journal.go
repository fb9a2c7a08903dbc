// Package journal is the durable, deduplicated, ordered log of events behind a
// relay.
package journal

import (
	"context"
	"errors"
	"time"
)

// Origin says how an event came into the journal. The body of a backfilled one
// is what a list told of the event, not what was signed: that it differs from a
// delivery of the same event is no conflict.
type Origin string

// The origins.
const (
	Webhook  Origin = "webhook"
	Backfill Origin = "backfill"
	Replay   Origin = "replay"
)

// Entry is an event to append.
type Entry struct {
	ID        string // of the event; the journal keeps each once
	Type      string
	CreatedAt time.Time
	Received  time.Time
	Origin    Origin
	Body      []byte // the exact bytes that were signed
}

// Result tells what became of an appended entry.
type Result struct {
	Seq       int64 // its position, or that of the entry it repeats
	Duplicate bool
	Conflict  bool // a duplicate id with another body ([SameBody]), both delivered: the first stays
}

// Record is an entry at its position.
type Record struct {
	Seq int64
	Entry
	Latest     time.Time // the highest Received up to here; it never goes back, as a clock may
	Duplicates int       // how often it came again
	Conflicts  int       // how many of those had another body
}

// Unreadable is a body that was signed but is no event. It has no position: it
// is kept so that nothing that was acknowledged is lost.
type Unreadable struct {
	Received time.Time
	Reason   string // why it could not be read
	Body     []byte
}

// ReadBytes bounds what one [Journal.Read] returns: no record is added to
// bodies of this many bytes.
const ReadBytes = 1 << 20

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("journal is closed")

// ErrDisowned is returned by every write from the moment on at which a process has
// found that its journal is another's: it has written nothing since, and never will.
var ErrDisowned = errors.New("the journal belongs to another process now")

// ErrEpoch is returned by [Journal.Wait] when the journal has a new epoch:
// what is known of its sequence numbers is void.
var ErrEpoch = errors.New("the journal has a new epoch")

// Journal is a log of events. Sequence numbers start at 1, grow by 1 and are
// handed out in the order of commits, so that a reader that has seen n has seen
// all before n. Implementations are safe for use by several goroutines and pass
// the suite of package journaltest.
type Journal interface {
	// Append stores entries and returns after they are durable: one result an
	// entry, in order. On an error nothing may be assumed of any of them; when
	// ctx ends first, they may still be stored. The bodies belong to the journal
	// from here on, whatever is returned.
	Append(ctx context.Context, entries []Entry) ([]Result, error)
	// Read returns at most limit records with a sequence number above after,
	// in order; fewer when their bodies reach ReadBytes, but at least one when
	// there is any.
	Read(ctx context.Context, after int64, limit int) ([]Record, error)
	// Find returns the record of an event id. That of a pruned one has its
	// ID and Seq only.
	Find(ctx context.Context, id string) (Record, bool, error)
	// Head is the newest sequence number, 0 when empty.
	Head(ctx context.Context) (int64, error)
	// Oldest is the oldest sequence number that can still be read, Head+1 when none can.
	Oldest(ctx context.Context) (int64, error)
	// Epoch names this journal: a cursor of another epoch means nothing here.
	Epoch() string
	// Wait returns once Head is above after, with ErrEpoch when the epoch changes
	// first, or when ctx ends.
	Wait(ctx context.Context, after int64) error
	// Prune removes the oldest records up to the first that was received at t
	// or later, keeps their ids, and returns how many it removed.
	Prune(ctx context.Context, t time.Time) (int64, error)
	// Quarantine keeps a signed body that is no event, durably.
	Quarantine(ctx context.Context, u Unreadable) error
	// Quarantined returns at most limit quarantined bodies, the newest first.
	Quarantined(ctx context.Context, limit int) ([]Unreadable, error)
	// Check reports whether an append would be durable now: it writes and waits
	// for the disk.
	Check(ctx context.Context) error
	// Close ends appends that have not begun with ErrClosed, waits for the
	// others and lets go of the storage.
	Close() error
}

// Owned is a [Journal] of one process at a time.
type Owned interface {
	// Owns reports whether this process still has the journal, without a change to
	// it; [ErrDisowned] is for good.
	Owns(ctx context.Context) error
}

// Sized is a [Journal] that knows the room that it takes.
type Sized interface {
	// Size is the number of bytes that are in use for what is stored.
	Size(ctx context.Context) (int64, error)
	// PruneTo removes the oldest records, as Prune does, until Size is at most
	// limit or none is left, and returns how many it removed.
	PruneTo(ctx context.Context, limit int64) (int64, error)
}

// Observation is what somebody observed of a request, encoded. It is no event, and
// nothing is lost with it.
type Observation struct {
	Position int64 // by when it was taken, in microseconds since 1970; it rises from one to the next
	ID       string
	Text     []byte
}

// Observed is a [Journal] whose relays share observations.
type Observed interface {
	// AddObservations shares those whose id is not there yet, lets go of those that
	// are older than span and of the oldest beyond the newest most, and returns
	// how many were new, and how many were let go before their time.
	AddObservations(ctx context.Context, all []Observation, span time.Duration, most int) (fresh, dropped int, err error)
	// Observations returns at most limit with a position above after that are not
	// older than span, in order.
	Observations(ctx context.Context, after int64, span time.Duration, limit int) ([]Observation, error)
}
