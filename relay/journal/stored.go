package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is stored beside what it is made of: numbers and texts, each with its length.
func Checksum(numbers []int64, texts ...[]byte) int64 {
	var room [128]byte
	head := room[:0]
	for _, n := range numbers {
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	for _, text := range texts {
		head = binary.BigEndian.AppendUint64(head, uint64(len(text)))
	}
	sum := crc32.Update(0, castagnoli, head)
	for _, text := range texts {
		sum = crc32.Update(sum, castagnoli, text)
	}
	return int64(sum)
}

// DigestChecksum is stored beside the digest of an id. It is fast: there may be millions.
func DigestChecksum(seq int64, digest []byte) int64 {
	return int64(crc32.Update(uint32(seq^seq>>32), castagnoli, digest))
}

// Checksum is stored beside a record.
func (r Record) Checksum() int64 {
	return Checksum([]int64{r.Seq, Nanoseconds(r.CreatedAt), Nanoseconds(r.Received), Nanoseconds(r.Latest),
		int64(r.Duplicates), int64(r.Conflicts)}, []byte(r.ID), []byte(r.Type), []byte(r.Origin), r.Body)
}

// Verified returns the record if sum is its checksum, and else that it is damaged.
func (r Record) Verified(sum int64) Record {
	if r.Checksum() != sum {
		return Record{Seq: r.Seq, Damaged: true}
	}
	return r
}

// Again returns the record after its event came again, and whether that conflicts: its body differs ([sameBody]) and
// both were signed. Backfilled bodies were not.
func (r Record) Again(e Entry) (after Record, conflict bool) {
	r.Duplicates++
	if conflict = r.Origin != Backfill && e.Origin != Backfill && !sameBody(r.Body, e.Body); conflict {
		r.Conflicts++
	}
	return r, conflict
}

// sameBody reports whether two bodies are equal but for white space between the parts of a JSON text, which means
// nothing (RFC 8259, section 2).
func sameBody(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var plainA, plainB bytes.Buffer
	if json.Compact(&plainA, a) != nil || json.Compact(&plainB, b) != nil {
		return false
	}
	return bytes.Equal(plainA.Bytes(), plainB.Bytes())
}

// WithoutHoles returns at most limit records from sequence number from on, with a damaged one in each hole between the
// found ones, and up to head after the last. Found records are in order.
func WithoutHoles(found []Record, from, head int64, limit int) []Record {
	var whole []Record
	for next := from; len(whole) < limit; next++ {
		switch {
		case len(found) > 0 && found[0].Seq == next:
			whole, found = append(whole, found[0]), found[1:]
		case len(found) > 0 || next <= head:
			whole = append(whole, Record{Seq: next, Damaged: true})
		default:
			return whole
		}
	}
	return whole
}

// Await returns once look finds a head above after, look fails, or ctx ends. The channel moved is closed when the head
// may have changed.
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

// PruneSteps repeats step until it removes no more events, and returns the sum of what the steps removed. Each step is
// one short transaction: appends do not wait long.
func PruneSteps(step func() (int64, error)) (removed int64, err error) {
	for {
		count, err := step()
		removed += count
		if err != nil || count == 0 {
			return removed, err
		}
	}
}

// Recovered turns a panic into an error. A function defers it when its panic must not end the process.
func Recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic: %v", panicked)
	}
}
