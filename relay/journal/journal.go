// Package journal is the durable, deduplicated, ordered log of events behind a
// relay.
package journal

import (
	"context"
	"errors"
	"time"
)

// Origin says how an event came into the journal. A backfilled body comes from the
// service's list and was not signed: it may differ from a delivery of the same event
// without a conflict.
type Origin string

// The origins.
const (
	Webhook  Origin = "webhook"
	Backfill Origin = "backfill"
)

// Entry is an event to append.
type Entry struct {
	ID        string // of the event; the journal keeps each id once
	Type      string
	CreatedAt time.Time
	Received  time.Time
	Origin    Origin
	Body      []byte // the exact bytes that were signed
}

// Result is the outcome of appending an entry.
type Result struct {
	Seq       int64 // its sequence number, or that of the entry it repeats
	Duplicate bool
	Conflict  bool // a duplicate id with another body ([Record.Again]): the first body stays
}

// Record is a stored entry with its sequence number.
type Record struct {
	Seq int64
	// Damaged says that the storage has lost the entry, or returns it changed. Everything else but Seq is empty then,
	// and the ID unless the caller named it.
	Damaged bool
	Entry
	Latest     time.Time // the latest Received up to here; unlike a clock, it never goes back
	Duplicates int       // how often the event came again
	Conflicts  int       // how many of those duplicates had another body
}

// Unreadable is a signed body that is not an event. It has no sequence number. The
// journal keeps it because the relay has acknowledged it.
type Unreadable struct {
	Received time.Time
	Reason   string // why it is not an event
	Body     []byte
}

// MostQuarantined is how many quarantined bodies a journal keeps, the newest: more than a relay lists, and no more than
// 100 MiB of disk, whatever the service signs.
const MostQuarantined = 100

// ReadBytes bounds one [Journal.Read]: it adds no record once the bodies reach this
// many bytes. A stream that stalls holds on to what it has read.
const ReadBytes = 128 << 10

// QuarantineBytes bounds one [Journal.Quarantined], as ReadBytes bounds a Read.
const QuarantineBytes = 2 << 20

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("journal is closed")

// ErrInUse says that another process has opened the journal, which only one can use.
var ErrInUse = errors.New("in use by another process")

// Journal is a log of events. Sequence numbers start at 1 and grow by 1 in the order
// of commits: a reader that has seen n has seen everything before n. Implementations
// are safe for concurrent use and pass the suite of this package.
type Journal interface {
	// Append stores entries and returns once they are durable, with one result for
	// each entry, in order. After an error, or if ctx ends first, any of them may or
	// may not be stored. The caller must not change the bodies afterwards.
	Append(ctx context.Context, entries []Entry) ([]Result, error)
	// Read returns at most limit records with a sequence number above after, in
	// order and without holes: in the place of one that cannot be read stands a record
	// that is Damaged. It returns fewer when their bodies reach ReadBytes, but at least
	// one if there is any.
	Read(ctx context.Context, after int64, limit int) ([]Record, error)
	// Find returns the record of an event id. The record of a pruned or damaged event
	// has only its ID and Seq.
	Find(ctx context.Context, id string) (r Record, ok bool, err error)
	// Head returns the newest sequence number, 0 when the journal is empty.
	Head(ctx context.Context) (int64, error)
	// Oldest returns the oldest sequence number that can still be read, Head+1 if
	// none can.
	Oldest(ctx context.Context) (int64, error)
	// Epoch identifies this journal: a cursor of another epoch is void here.
	Epoch() string
	// Wait returns nil once Head is above after, or the error of ctx.
	Wait(ctx context.Context, after int64) error
	// Prune removes the oldest records, up to the first one received at t or later,
	// keeps their ids, and returns how many records it removed.
	Prune(ctx context.Context, t time.Time) (int64, error)
	// Quarantine keeps a signed body that is not an event, durably, and lets go of all
	// but the newest [MostQuarantined].
	Quarantine(ctx context.Context, u Unreadable) error
	// Quarantined returns at most limit quarantined bodies, the newest first. It returns
	// fewer when they reach QuarantineBytes, but at least one if there is any.
	Quarantined(ctx context.Context, limit int) ([]Unreadable, error)
	// Check writes and waits for the disk. It returns an error if an append would not
	// be durable now.
	Check(ctx context.Context) error
	// Close fails appends that have not begun with ErrClosed, waits for the others
	// and releases the storage.
	Close() error
}
