package journal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// What every database of events stores alike.

// Digest stands for an event id: the first 128 bits of its SHA-256.
type Digest = [16]byte

// DigestOf is the digest of an event id.
func DigestOf(id string) Digest {
	var room [128]byte // most ids fit: no copy on the heap
	sum := sha256.Sum256(append(room[:0], id...))
	return Digest(sum[:len(Digest{})])
}

// NewEpoch is a random name for a journal.
func NewEpoch() string { return rand.Text()[:16] }

// Nanoseconds is a time as it is stored; 0 for the zero time.
func Nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Instant is the time that [Nanoseconds] stored.
func Instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// NonNil keeps an empty text or body from becoming NULL.
func NonNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}

// Contradicts reports whether two entries of one id conflict: both were signed, and
// their bodies say different things. What was backfilled was not signed.
func Contradicts(first, again Entry) bool {
	return first.Origin != Backfill && again.Origin != Backfill && !SameBody(first.Body, again.Body)
}

// Repeats are how often stored events came again, by their sequence numbers.
type Repeats map[int64]Repeat

// Repeat is how often one event came again, and how often with another body.
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

// Await returns once look finds a head above after, fails, or ctx ends. The channel
// that look returns is closed when it is worth another look.
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

// PruneSteps repeats step, which returns how many events it removed, until there is
// nothing more to remove. Each step is durable by itself, so that appends do not wait
// long behind it.
func PruneSteps(step func() (int64, error)) (removed int64, err error) {
	for {
		count, err := step()
		removed += count
		if err != nil || count == 0 {
			return removed, err
		}
	}
}
