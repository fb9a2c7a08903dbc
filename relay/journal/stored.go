package journal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// This file holds what every database of events shares.

// Digest identifies an event id: the first 128 bits of its SHA-256.
type Digest = [16]byte

// DigestOf returns the digest of an event id.
func DigestOf(id string) Digest {
	var room [128]byte // most ids fit: no copy on the heap
	sum := sha256.Sum256(append(room[:0], id...))
	return Digest(sum[:len(Digest{})])
}

// NewEpoch returns a random name for a journal.
func NewEpoch() string { return rand.Text()[:16] }

// Nanoseconds returns a time as databases store it, since 1970; 0 for the zero time.
func Nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Instant is the inverse of [Nanoseconds].
func Instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// NonNil turns nil into an empty slice, which a database does not store as NULL.
func NonNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

// Contradicts reports whether two entries of one id conflict: their bodies differ
// ([sameBody]) and both were signed. Backfilled bodies were not.
func Contradicts(first, again Entry) bool {
	return first.Origin != Backfill && again.Origin != Backfill && !sameBody(first.Body, again.Body)
}

// Repeats counts the repetitions of stored events, by sequence number.
type Repeats map[int64]Repeat

// Repeat counts how often one event came again, and how often with another body.
type Repeat struct{ Duplicates, Conflicts int64 }

// Count counts an event that came again.
func (r Repeats) Count(again Result) {
	counts := r[again.Seq]
	counts.Duplicates++
	if again.Conflict {
		counts.Conflicts++
	}
	r[again.Seq] = counts
}

// Await returns once look finds a head above after, look fails, or ctx ends. The
// channel moved is closed when the head may have changed.
func Await(ctx context.Context, after int64, look func() (head int64, moved <-chan struct{}, err error)) error {
	for {
		head, moved, err := look()
		if err != nil || head > after {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// PruneSteps repeats step until it removes no more events, and returns the sum of
// what the steps removed. Each step is one short transaction: appends do not wait long.
func PruneSteps(step func() (int64, error)) (removed int64, err error) {
	for {
		count, err := step()
		removed += count
		if err != nil || count == 0 {
			return removed, err
		}
	}
}
