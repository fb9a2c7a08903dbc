package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// channel is where each commit announces the epoch and the head.
const channel = "tillwatch"

// maxInsertBytes bounds the bodies of one statement: the server holds it as one
// message.
const maxInsertBytes = 16 << 20

const (
	// Each statement sees what was committed before it began. After the lock, that is
	// everything that its earlier holders wrote.
	beginStatement = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	lockStatement  = selectState + " FOR UPDATE"
	knownStatement = `
SELECT i.digest, i.seq, coalesce(e.origin, ''), e.body
FROM tillwatch_ids i LEFT JOIN tillwatch_events e USING (seq) WHERE i.digest = ANY ($1::uuid[])`

	// New entries get the next sequence numbers, in their order.
	insertStatement = `
WITH fresh AS (
	SELECT g.*, j.head + row_number() OVER (ORDER BY place) AS seq,
		greatest(j.latest, max(received) OVER (ORDER BY place)) AS latest
	FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::text[], $7::bytea[])
		WITH ORDINALITY AS g (digest, id, type, created, received, origin, body, place), tillwatch_journal j
	WHERE NOT EXISTS (SELECT FROM tillwatch_ids i WHERE i.digest = g.digest)
), stored AS (
	INSERT INTO tillwatch_events (seq, id, type, created, received, latest, origin, body)
	SELECT seq, id, type, created, received, latest, origin, body FROM fresh
), named AS (
	INSERT INTO tillwatch_ids (digest, seq) SELECT digest, seq FROM fresh
)
UPDATE tillwatch_journal j SET head = j.head + added.events, latest = added.latest, bytes = j.bytes + added.bytes
FROM (SELECT count(*) AS events, max(latest) AS latest, sum(` + sizeExpression + `)::bigint AS bytes FROM fresh) AS added
WHERE added.events > 0`

	notifyStatement = "SELECT pg_notify('" + channel + "', epoch || ' ' || head) FROM tillwatch_journal WHERE head > $1"

	repeatStatement = `
UPDATE tillwatch_events e
SET duplicates = e.duplicates + r.duplicates, conflicts = e.conflicts + r.conflicts
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS r (seq, duplicates, conflicts)
WHERE e.seq = r.seq`
)

// batch is the work of one transaction that appends.
type batch struct {
	state   state // before the batch, under the lock
	calls   []*appending
	entries []journal.Entry
	digests []journal.Digest
	first   map[journal.Digest]int   // the first entry of each id
	known   map[journal.Digest]known // ids that were stored before
	results []journal.Result         // one for each entry, set by number
	fresh   int64
	repeats journal.Repeats
}

// known is a stored id with its event; the body of a pruned event is nil.
type known struct {
	seq   int64
	entry journal.Entry
}

func newBatch(locked state) *batch {
	return &batch{state: locked, first: map[journal.Digest]int{}, known: map[journal.Digest]known{}, repeats: journal.Repeats{}}
}

func (b *batch) add(a *appending) {
	b.calls = append(b.calls, a)
	for _, e := range a.entries {
		d := journal.DigestOf(e.ID)
		if _, found := b.first[d]; !found {
			b.first[d] = len(b.entries)
		}
		b.entries = append(b.entries, e)
		b.digests = append(b.digests, d)
	}
}

// begin begins a transaction that locks the head.
func begin(ctx context.Context, connection *pgx.Conn) (locked state, err error) {
	var requests pgx.Batch
	requests.Queue(beginStatement)
	requests.Queue(lockStatement).QueryRow(func(row pgx.Row) error {
		return row.Scan(&locked.epoch, &locked.head, &locked.oldest)
	})
	return locked, connection.SendBatch(ctx, &requests).Close()
}

// store writes the new entries and commits, in one round trip, and then counts the
// repetitions.
func (b *batch) store(ctx context.Context, connection *pgx.Conn) error {
	var requests pgx.Batch
	if len(b.entries) > 0 {
		b.insert(&requests)
	}
	requests.Queue("COMMIT")
	if err := connection.SendBatch(ctx, &requests).Close(); err != nil {
		return err
	}
	b.number()
	if err := b.count(ctx, connection); err != nil {
		return err
	}
	results := b.results
	for _, a := range b.calls {
		n := len(a.entries)
		a.results, results = results[:n:n], results[n:]
	}
	return nil
}

func (b *batch) insert(requests *pgx.Batch) {
	requests.Queue(knownStatement, b.digests).Query(func(rows pgx.Rows) error {
		var d journal.Digest
		var k known
		_, err := pgx.ForEachRow(rows, []any{&d, &k.seq, &k.entry.Origin, &k.entry.Body}, func() error {
			b.known[d] = k
			k.entry.Body = nil // or the next row would overwrite it
			return nil
		})
		return err
	})
	var rows columns
	for i, e := range b.entries {
		if b.first[b.digests[i]] != i {
			continue
		}
		rows.add(b.digests[i], e)
		if rows.bytes >= maxInsertBytes {
			rows.insert(requests)
			rows = columns{}
		}
	}
	if len(rows.digests) > 0 {
		rows.insert(requests)
	}
	requests.Queue(notifyStatement, b.state.head)
}

// number works out each entry's result as the database numbered them: new ones have
// the next sequence numbers, the others repeat. A repeated event that was pruned has
// no body to compare.
func (b *batch) number() {
	b.results = make([]journal.Result, len(b.entries))
	for i, e := range b.entries {
		first := b.first[b.digests[i]]
		stored, found := b.known[b.digests[i]]
		switch {
		case found:
			b.repeat(i, stored.seq, stored.entry.Body != nil && journal.Contradicts(stored.entry, e))
		case first < i:
			b.repeat(i, b.results[first].Seq, journal.Contradicts(b.entries[first], e))
		default:
			b.fresh++
			b.results[i] = journal.Result{Seq: b.head()}
		}
	}
}

// head is the newest sequence number, the batch included.
func (b *batch) head() int64 { return b.state.head + b.fresh }

func (b *batch) repeat(i int, seq int64, conflict bool) {
	b.results[i] = journal.Result{Seq: seq, Duplicate: true, Conflict: conflict}
	b.repeats.Count(b.results[i])
}

// count stores the repetitions. They are acknowledged only after that.
func (b *batch) count(ctx context.Context, connection *pgx.Conn) error {
	if len(b.repeats) == 0 {
		return nil
	}
	var duplicates, conflicts []int64
	seqs := slices.Sorted(maps.Keys(b.repeats)) // relays that lock rows in one order cannot deadlock
	for _, seq := range seqs {
		duplicates = append(duplicates, b.repeats[seq].Duplicates)
		conflicts = append(conflicts, b.repeats[seq].Conflicts)
	}
	_, err := connection.Exec(ctx, repeatStatement, seqs, duplicates, conflicts)
	return err
}

// columns holds events as the array parameters of one statement.
type columns struct {
	digests            []journal.Digest
	created, received  []int64
	ids, types, bodies [][]byte
	origins            []string
	bytes              int
}

func (c *columns) add(d journal.Digest, e journal.Entry) {
	c.digests = append(c.digests, d)
	c.ids = append(c.ids, []byte(e.ID))
	c.types = append(c.types, []byte(e.Type))
	c.created = append(c.created, journal.Nanoseconds(e.CreatedAt))
	c.received = append(c.received, journal.Nanoseconds(e.Received))
	c.origins = append(c.origins, string(e.Origin))
	c.bodies = append(c.bodies, journal.NonNil(e.Body))
	c.bytes += len(e.Body)
}

func (c *columns) insert(requests *pgx.Batch) {
	requests.Queue(insertStatement, c.digests, c.ids, c.types, c.created, c.received, c.origins, c.bodies)
}
