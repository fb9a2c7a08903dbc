package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"tillwatch/relay/journal"
)

// channel carries the epoch and the head after each commit.
const channel = "tillwatch"

// maxInsertBytes bounds the bodies of one statement, which the server takes as
// one message.
const maxInsertBytes = 16 << 20

const (
	// Each statement sees what was committed before it began: the second one
	// everything that a relay wrote which held the lock before.
	beginStatement = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	lockStatement  = selectState + " FOR UPDATE"
	knownStatement = `
SELECT i.digest, i.seq, sha256(e.body)
FROM tillwatch_ids i LEFT JOIN tillwatch_events e USING (seq)
WHERE i.digest = ANY ($1::uuid[])`
	insertStatement = `
INSERT INTO tillwatch_events (seq, id, type, created, received, origin, body)
SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::text[], $7::bytea[])`
	insertIDsStatement = `
INSERT INTO tillwatch_ids (digest, seq) SELECT * FROM unnest($1::uuid[], $2::bigint[])`
	repeatStatement = `
UPDATE tillwatch_events e
SET duplicates = e.duplicates + r.duplicates, conflicts = e.conflicts + r.conflicts
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS r (seq, duplicates, conflicts)
WHERE e.seq = r.seq`
	headStatement   = "UPDATE tillwatch_journal SET head = $1, bytes = bytes + $2"
	notifyStatement = "SELECT pg_notify('" + channel + "', $1)"
)

// digest stands for an event id: the first 128 bits of its SHA-256.
type digest = [16]byte

func digestOf(id string) digest {
	sum := sha256.Sum256([]byte(id))
	return digest(sum[:16])
}

// batch is what one transaction appends.
type batch struct {
	entries []journal.Entry
	digests []digest
	state   state            // before the batch, under the lock
	known   map[digest]known // ids stored by then
	results []journal.Result // one an entry, after number

	fresh   []int // entries that are new, from head+1 on
	repeats map[int64]*repeats
}

// known is a stored id.
type known struct {
	seq int64
	sum []byte // of its body; nil when that was pruned
}

type repeats struct{ duplicates, conflicts int64 }

func newBatch() *batch {
	return &batch{}
}

func (b *batch) add(entries []journal.Entry) {
	b.entries = append(b.entries, entries...)
	for _, e := range entries {
		b.digests = append(b.digests, digestOf(e.ID))
	}
}

// begin locks the head and looks the ids up, in one round trip.
func (b *batch) begin(ctx context.Context, connection *pgx.Conn) error {
	b.known = map[digest]known{}
	var requests pgx.Batch
	requests.Queue(beginStatement)
	requests.Queue(lockStatement).QueryRow(func(row pgx.Row) error {
		return row.Scan(&b.state.epoch, &b.state.head, &b.state.oldest)
	})
	requests.Queue(knownStatement, uuids(b.digests)).Query(func(rows pgx.Rows) error {
		var d pgtype.UUID
		var k known
		_, err := pgx.ForEachRow(rows, []any{&d, &k.seq, &k.sum}, func() error {
			b.known[d.Bytes] = k
			k.sum = nil // each has its own
			return nil
		})
		return err
	})
	return connection.SendBatch(ctx, &requests).Close()
}

// number decides what each entry is: new, with the next sequence number, or a
// repetition. Of a pruned one, whether the bodies differ is no longer known.
func (b *batch) number() {
	b.results = make([]journal.Result, len(b.entries))
	b.repeats = map[int64]*repeats{}
	numbered := make(map[digest]int, len(b.entries)) // entries of this batch
	for i, e := range b.entries {
		if stored, found := b.known[b.digests[i]]; found {
			conflict := stored.sum != nil && [sha256.Size]byte(stored.sum) != sha256.Sum256(e.Body)
			b.results[i] = b.repeat(stored.seq, conflict)
			continue
		}
		if first, found := numbered[b.digests[i]]; found {
			b.results[i] = b.repeat(b.results[first].Seq, !bytes.Equal(b.entries[first].Body, e.Body))
			continue
		}
		numbered[b.digests[i]] = i
		b.fresh = append(b.fresh, i)
		b.results[i] = journal.Result{Seq: b.head()}
	}
}

// head is the newest sequence number with those of the batch.
func (b *batch) head() int64 { return b.state.head + int64(len(b.fresh)) }

func (b *batch) repeat(seq int64, conflict bool) journal.Result {
	counts := b.repeats[seq]
	if counts == nil {
		counts = new(repeats)
		b.repeats[seq] = counts
	}
	counts.duplicates++
	if conflict {
		counts.conflicts++
	}
	return journal.Result{Seq: seq, Duplicate: true, Conflict: conflict}
}

// finish writes and commits, in one round trip.
func (b *batch) finish(ctx context.Context, connection *pgx.Conn) error {
	var requests pgx.Batch
	if len(b.fresh) > 0 {
		b.insert(&requests)
	}
	if len(b.repeats) > 0 {
		var seqs, duplicates, conflicts []int64
		for seq, counts := range b.repeats {
			seqs = append(seqs, seq)
			duplicates = append(duplicates, counts.duplicates)
			conflicts = append(conflicts, counts.conflicts)
		}
		requests.Queue(repeatStatement, seqs, duplicates, conflicts)
	}
	requests.Queue("COMMIT")
	return connection.SendBatch(ctx, &requests).Close()
}

func (b *batch) insert(requests *pgx.Batch) {
	digests, numbers := make([]digest, 0, len(b.fresh)), make([]int64, 0, len(b.fresh))
	var rows columns
	var size int64
	for _, i := range b.fresh {
		digests = append(digests, b.digests[i])
		numbers = append(numbers, b.results[i].Seq)
		rows.add(b.results[i].Seq, b.entries[i])
		size += sizeOf(b.entries[i])
		if rows.bytes >= maxInsertBytes {
			rows.insert(requests)
			rows = columns{}
		}
	}
	if len(rows.seqs) > 0 {
		rows.insert(requests)
	}
	requests.Queue(insertIDsStatement, uuids(digests), numbers)
	requests.Queue(headStatement, b.head(), size)
	requests.Queue(notifyStatement, b.state.epoch+" "+strconv.FormatInt(b.head(), 10))
}

// columns are events as the arrays of one statement.
type columns struct {
	seqs, created, received []int64
	ids, types, bodies      [][]byte
	origins                 []string
	bytes                   int
}

func (c *columns) add(seq int64, e journal.Entry) {
	c.seqs = append(c.seqs, seq)
	c.ids = append(c.ids, []byte(e.ID))
	c.types = append(c.types, []byte(e.Type))
	c.created = append(c.created, nanoseconds(e.CreatedAt))
	c.received = append(c.received, nanoseconds(e.Received))
	c.origins = append(c.origins, string(e.Origin))
	c.bodies = append(c.bodies, nonNil(e.Body))
	c.bytes += len(e.Body)
}

func (c *columns) insert(requests *pgx.Batch) {
	requests.Queue(insertStatement, c.seqs, c.ids, c.types, c.created, c.received, c.origins, c.bodies)
}

func uuids(digests []digest) pgtype.FlatArray[pgtype.UUID] {
	all := make(pgtype.FlatArray[pgtype.UUID], len(digests))
	for i, d := range digests {
		all[i] = pgtype.UUID{Bytes: d, Valid: true}
	}
	return all
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// nonNil keeps an empty text or body from becoming NULL.
func nonNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
