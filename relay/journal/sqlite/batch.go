package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"tillwatch/relay/journal"
)

// insertRows is how many events one statement inserts, which saves a call and its
// locks for each of the others.
const insertRows = 16

const (
	insertInto = "INSERT INTO events (seq, id, type, created, received, origin, body) VALUES "
	insertOne  = "(?, ?, ?, ?, ?, ?, ?)"
)

// statements are those of every transaction, prepared on one connection.
type statements struct {
	begin, commit, insert, insertMany, repeated, differs *sql.Stmt
}

// prepareStatements returns what it has prepared with its error, too.
func prepareStatements(ctx context.Context, c *sql.Conn) (statements, error) {
	var s statements
	for _, each := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.insert, insertInto + insertOne},
		{&s.insertMany, insertInto + strings.Repeat(insertOne+", ", insertRows-1) + insertOne},
		{&s.repeated, "UPDATE events SET duplicates = duplicates + ?, conflicts = conflicts + ? WHERE seq = ?"},
		{&s.differs, "SELECT body <> ? AND origin <> '" + string(journal.Backfill) + "' FROM events WHERE seq = ?"},
	} {
		statement, err := c.PrepareContext(ctx, each.text)
		if err != nil {
			return s, err
		}
		*each.into = statement
	}
	return s, nil
}

// close lets go of the statements: the pool keeps a connection for as long as
// it has any.
func (s statements) close() {
	for _, statement := range []*sql.Stmt{s.begin, s.commit, s.insert, s.insertMany, s.repeated, s.differs} {
		if statement != nil {
			_ = statement.Close()
		}
	}
}

// batch is one transaction while it grows. Nothing of it is known outside
// before it is committed.
type batch struct {
	ctx     context.Context
	writer  *writer
	fresh   []digest // of the new entries, from head+1 on
	rows    []any    // of the last of them, which are not inserted yet
	numbers map[digest]int64
	repeats map[int64]*repeats
	stored  int64
	oldest  int64 // the new oldest, 0 when it stays
}

type repeats struct{ duplicates, conflicts int }

func newBatch(ctx context.Context, w *writer) *batch {
	return &batch{
		ctx:     ctx,
		writer:  w,
		numbers: map[digest]int64{},
		repeats: map[int64]*repeats{},
		stored:  w.stored,
	}
}

// head is the newest sequence number with those of the batch. Only the writer
// adds ids, so it may read their number without the lock.
func (b *batch) head() int64 { return b.writer.journal.ids.count + int64(len(b.fresh)) }

func (b *batch) append(e journal.Entry) (journal.Result, error) {
	d := digestOf(e.ID)
	seq, found := b.numbers[d]
	if !found {
		seq, found = b.writer.journal.known(d)
	}
	if found {
		return b.repeat(seq, e)
	}
	seq = b.head() + 1
	if seq > maxIdentities {
		return journal.Result{}, errFull
	}
	b.fresh = append(b.fresh, d)
	b.numbers[d] = seq
	b.rows = append(b.rows,
		seq, e.ID, e.Type, nanoseconds(e.CreatedAt), nanoseconds(e.Received), string(e.Origin), nonNil(e.Body))
	if len(b.rows) < insertRows*rowValues {
		return journal.Result{Seq: seq}, nil
	}
	return journal.Result{Seq: seq}, b.insert()
}

// rowValues is the number of values of a row.
const rowValues = 7

// insert inserts the rows that are not inserted yet.
func (b *batch) insert() error {
	rows := b.rows
	b.rows = b.rows[:0]
	if len(rows) == insertRows*rowValues {
		_, err := b.writer.statements.insertMany.ExecContext(b.ctx, rows...)
		return err
	}
	for ; len(rows) > 0; rows = rows[rowValues:] {
		if _, err := b.writer.statements.insert.ExecContext(b.ctx, rows[:rowValues]...); err != nil {
			return err
		}
	}
	return nil
}

// repeat counts an entry whose id is known. Of a pruned one, whether the bodies
// differ is no longer known.
func (b *batch) repeat(seq int64, e journal.Entry) (journal.Result, error) {
	if err := b.insert(); err != nil { // it may be the one that is repeated
		return journal.Result{}, err
	}
	var conflict bool
	err := b.writer.statements.differs.QueryRowContext(b.ctx, nonNil(e.Body), seq).Scan(&conflict)
	if err != nil && err != sql.ErrNoRows {
		return journal.Result{}, err
	}
	counts := b.repeats[seq]
	if counts == nil {
		counts = new(repeats)
		b.repeats[seq] = counts
	}
	counts.duplicates++
	if conflict = conflict && e.Origin != journal.Backfill; conflict {
		counts.conflicts++
	}
	return journal.Result{Seq: seq, Duplicate: true, Conflict: conflict}, nil
}

// finish writes what was gathered for the end of the transaction.
func (b *batch) finish() error {
	if err := b.insert(); err != nil {
		return err
	}
	for seq, counts := range b.repeats {
		_, err := b.writer.statements.repeated.ExecContext(b.ctx, counts.duplicates, counts.conflicts, seq)
		if err != nil {
			return err
		}
	}
	for b.head()-b.stored >= pageLength {
		if err := b.storeDigests(b.stored + pageLength); err != nil {
			return err
		}
	}
	return nil
}

// storeDigests writes the run of digests that ends at last.
func (b *batch) storeDigests(last int64) error {
	if last <= b.stored {
		return nil
	}
	ids := b.writer.journal.ids
	run := make([]byte, 0, (last-b.stored)*digestSize)
	for seq := b.stored + 1; seq <= last; seq++ {
		d := digest{}
		if seq <= ids.count {
			d = ids.at(seq)
		} else {
			d = b.fresh[seq-ids.count-1]
		}
		run = append(run, d[:]...)
	}
	_, err := b.writer.connection.ExecContext(b.ctx,
		"INSERT INTO id_digests (first, digests) VALUES (?, ?)", b.stored+1, run)
	if err != nil {
		return err
	}
	b.stored = last
	return nil
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

// nonNil keeps an empty body from becoming NULL.
func nonNil(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
