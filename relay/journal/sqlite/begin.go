package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"tillwatch/relay/journal"
)

// version is the version of the schema.
const version = 5

// schema keeps ids apart from events: they outlive pruned events.
var schema = [...]string{
	`CREATE TABLE journal (epoch TEXT NOT NULL, oldest INTEGER NOT NULL, sum INTEGER NOT NULL, checks INTEGER NOT NULL)`,
	`CREATE TABLE ids (seq INTEGER PRIMARY KEY, digest BLOB NOT NULL, sum INTEGER NOT NULL)`,
	`CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, created INTEGER NOT NULL,
	received INTEGER NOT NULL, latest INTEGER NOT NULL, origin TEXT NOT NULL, duplicates INTEGER NOT NULL,
	conflicts INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL)`,
	`CREATE TABLE quarantine (number INTEGER PRIMARY KEY, received INTEGER NOT NULL, reason TEXT NOT NULL,
	body BLOB NOT NULL, sum INTEGER NOT NULL)`,
}

// prepareSchema creates the tables in an empty database, and refuses any others.
func (j *Journal) prepareSchema(ctx context.Context) error {
	var found int
	var tables sql.NullString
	err := j.writing.QueryRowContext(ctx, `SELECT user_version,
		(SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY rowid)) FROM pragma_user_version`).
		Scan(&found, &tables)
	ours := strings.Join(schema[:], ";")
	switch {
	case err != nil:
		return err
	case found == version && tables.String == ours:
		return nil
	case found == version, found == 0 && tables.String == ours:
		return fmt.Errorf("%w: its schema is not that of a journal", errDamaged)
	case found == 0 && tables.Valid:
		return errForeign
	case found != 0:
		return fmt.Errorf("%w (format %d, this program reads %d)", errVersion, found, version)
	}
	first := state{epoch: journal.NewEpoch(), oldest: 1}
	_, err = j.writing.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s; %s; PRAGMA user_version = %d; COMMIT",
		ours, insertState, version), first.epoch, first.oldest, first.sum())
	return err
}

const insertState = "INSERT INTO journal (epoch, oldest, sum, checks) VALUES (?, ?, ?, 0)"

func (s state) sum() int64 { return journal.Checksum([]int64{s.oldest}, []byte(s.epoch)) }

// begin finds out what the database holds, and that it takes more.
func (j *Journal) begin(ctx context.Context) error {
	// What a killed process has written is synced before anybody hears of it.
	var busy int
	err := j.writing.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, new(int), new(int))
	if err != nil {
		return err
	}
	if busy != 0 {
		return journal.ErrInUse
	}
	if err := j.load(ctx); err != nil {
		return err
	}
	stored, err := j.stored(ctx)
	if err == nil {
		j.state.epoch, j.state.oldest = stored.epoch, stored.oldest
		return j.rehearse()
	}
	if !isDamage(err) {
		return err
	}
	// Without the epoch nobody's cursor means anything.
	if err := j.makeState(ctx); err != nil {
		return errors.Join(errDamaged, err)
	}
	return j.rehearse()
}

// stored returns the row of the table journal.
func (j *Journal) stored(ctx context.Context) (s state, err error) {
	var sum int64
	err = j.db.QueryRowContext(ctx, "SELECT epoch, oldest, sum FROM journal").Scan(&s.epoch, &s.oldest, &sum)
	if err == nil && s.sum() != sum || err != nil && ctx.Err() == nil && code(err) == 0 {
		err = errDamaged
	}
	return s, err
}

// makeState begins a new epoch over the events that there are.
func (j *Journal) makeState(ctx context.Context) error {
	s := state{epoch: journal.NewEpoch(), oldest: j.state.head + 1, head: j.state.head, latest: j.state.latest}
	err := j.read(ctx, func(row *sql.Rows) (bool, error) {
		return false, row.Scan(&s.oldest)
	}, "SELECT seq FROM events WHERE seq BETWEEN 1 AND ? ORDER BY seq LIMIT 1", s.head)
	if err != nil && !isDamage(err) {
		return err
	}
	_, err = j.writing.ExecContext(ctx, "BEGIN IMMEDIATE; DELETE FROM journal; "+insertState+"; COMMIT",
		s.epoch, s.oldest, s.sum())
	if err != nil {
		_, _ = j.writing.ExecContext(ctx, "ROLLBACK")
		return err
	}
	j.state = s
	return nil
}

// load reads the ids, the head and the latest time of receipt.
func (j *Journal) load(ctx context.Context) error {
	head := j.state.head
	if err := j.loadIDs(ctx, head, &head); err != nil {
		return err
	}
	// The id of the newest event may be damaged.
	err := j.read(ctx, func(row *sql.Rows) (bool, error) {
		r, err := scanRecord(row)
		if !r.Damaged {
			head = max(head, r.Seq)
		}
		return false, err
	}, selectRecords+" ORDER BY seq DESC LIMIT 1")
	if err != nil && !isDamage(err) {
		return err
	}
	s := j.state
	s.head = head
	j.opened = head
	for seq := head; seq > max(0, head-tailLength); seq-- {
		r, err := j.one(ctx, seq)
		if err != nil {
			return err
		}
		j.spoilt[seq] = r.Damaged
		s.latest = max(s.latest, journal.Nanoseconds(r.Latest))
	}
	j.publish(s)
	return j.loadLostIDs(ctx)
}

// loadIDs reads the ids above a sequence number: in order, and, if a page cannot be read, also from the other end.
func (j *Journal) loadIDs(ctx context.Context, above int64, head *int64) (err error) {
	var seq, sum int64
	var digest sql.RawBytes
	columns := []any{&seq, &digest, &sum} // once: there may be a million rows
	for _, order := range []string{"", " DESC"} {
		err = j.read(ctx, func(row *sql.Rows) (bool, error) {
			whole := row.Scan(columns...) == nil && len(digest) == len(journal.Digest{})
			if !whole || journal.DigestChecksum(seq, digest) != sum {
				return true, nil
			}
			j.mu.Lock()
			defer j.mu.Unlock()
			j.ids[journal.Digest(digest)] = seq
			*head = max(*head, seq)
			return true, nil
		}, "SELECT seq, digest, sum FROM ids WHERE seq > ? ORDER BY seq"+order, above)
		if !isDamage(err) {
			return err
		}
	}
	return nil
}

// loadLostIDs takes the ids whose own rows are damaged from the events.
func (j *Journal) loadLostIDs(ctx context.Context) error {
	head := j.state.head
	if int64(len(j.ids)) >= head {
		return nil
	}
	known := make([]bool, head+1)
	for _, seq := range j.ids {
		known[seq] = true
	}
	for seq := int64(1); seq <= head; seq++ {
		if known[seq] {
			continue
		}
		r, err := j.one(ctx, seq)
		if err != nil {
			return err
		}
		if !r.Damaged {
			j.mu.Lock()
			j.ids[journal.DigestOf(r.ID)] = seq
			j.mu.Unlock()
		}
	}
	return nil
}

// rehearse writes what an append writes, and takes it back: where the end of a table is damaged, no event could be
// stored.
func (j *Journal) rehearse() error {
	b := &batch{j: j, state: j.state}
	err := b.do("BEGIN IMMEDIATE")
	if err == nil {
		large := make([]byte, 16<<10) // on pages of its own
		_, err = b.append(journal.Entry{ID: journal.NewEpoch(), Body: large})
		b.undo()
	}
	return err
}
