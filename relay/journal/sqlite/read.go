package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"tillwatch/relay/journal"
)

const (
	selectRecords = `SELECT seq, id, type, created, received, latest, origin, duplicates, conflicts, body, sum
	FROM events`

	selectQuarantine = `SELECT number, received, reason, body, sum FROM quarantine`
)

type row interface{ Scan(...any) error }

// scanRecord scans a row, of any content.
func scanRecord(row row) (r journal.Record, err error) {
	var created, received, latest, sum int64
	const none = -1
	r.Seq = none
	err = row.Scan(&r.Seq, &r.ID, &r.Type, &created, &received, &latest, &r.Origin, &r.Duplicates, &r.Conflicts,
		&r.Body, &sum)
	if err != nil && r.Seq != none { // a column is of another kind
		return journal.Record{Seq: r.Seq, Damaged: true}, nil
	}
	r.CreatedAt, r.Received, r.Latest = journal.Instant(created), journal.Instant(received), journal.Instant(latest)
	return r.Verified(sum), err
}

// Read reads committed records without waiting for the writer.
func (j *Journal) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	s, _, err := j.now()
	from := max(after+1, s.oldest)
	if err != nil || limit <= 0 || after >= s.head || from > s.head {
		return nil, err
	}
	var found []journal.Record
	size := 0
	err = j.read(ctx, func(row *sql.Rows) (bool, error) {
		if size >= journal.ReadBytes {
			return false, nil
		}
		r, err := scanRecord(row)
		found, size = append(found, r), size+len(r.Body)
		return true, err
	}, selectRecords+" WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?", from, s.head, limit)
	if err != nil && !isDamage(err) {
		return nil, err
	}
	complete := len(found) == limit || size >= journal.ReadBytes || int64(len(found)) == s.head-from+1
	if err == nil && complete && inRow(found, from) {
		return found, nil
	}
	return j.readEach(ctx, from, s.head, limit)
}

// inRow reports whether records have the sequence numbers from from on.
func inRow(records []journal.Record, from int64) bool {
	for i, r := range records {
		if r.Seq != from+int64(i) {
			return false
		}
	}
	return true
}

// readEach reads one record after the other: where one is damaged or missing, SQLite may not find those beside it
// in a row.
func (j *Journal) readEach(ctx context.Context, from, head int64, limit int) (records []journal.Record, err error) {
	if s, err := j.stored(ctx); err == nil {
		from = max(from, s.oldest) // some may have been pruned meanwhile
	}
	size := 0
	for seq := from; seq <= head && len(records) < limit && size < journal.ReadBytes; seq++ {
		r, err := j.one(ctx, seq)
		if err != nil {
			return nil, err
		}
		records, size = append(records, r), size+len(r.Body)
	}
	return records, nil
}

// one reads the record of a sequence number, which is damaged if there is none.
func (j *Journal) one(ctx context.Context, seq int64) (journal.Record, error) {
	r, found := journal.Record{Seq: seq, Damaged: true}, false
	err := j.read(ctx, func(row *sql.Rows) (bool, error) {
		got, err := scanRecord(row)
		if !found && err == nil && got.Seq == seq {
			r, found = got, true
		}
		return false, err
	}, selectRecords+" WHERE seq = ?", seq)
	if isDamage(err) {
		err = nil
	}
	return r, err
}

// Find looks an id up among all ids ever stored.
func (j *Journal) Find(ctx context.Context, id string) (r journal.Record, found bool, err error) {
	s, _, err := j.now()
	if err != nil {
		return r, false, err
	}
	j.mu.Lock()
	seq := j.ids[journal.DigestOf(id)]
	j.mu.Unlock()
	if seq == 0 || seq > s.head {
		return r, false, nil
	}
	if seq >= s.oldest {
		if r, err = j.one(ctx, seq); err != nil {
			return journal.Record{}, false, err
		}
		if r.Damaged {
			if s, err := j.stored(ctx); err == nil {
				r.Damaged = seq >= s.oldest // else it was pruned meanwhile
			}
		}
	}
	r.Seq, r.ID = seq, id
	return r, true, nil
}

func scanUnreadable(row row) (number int64, u journal.Unreadable, err error) {
	var received, sum int64
	err = row.Scan(&number, &received, &u.Reason, &u.Body, &sum)
	u.Received = journal.Instant(received)
	if err != nil || sumUnreadable(u) != sum {
		err = errDamaged
	}
	return number, u, err
}

// Quarantined reads the newest quarantined bodies, without damaged ones.
func (j *Journal) Quarantined(ctx context.Context, limit int) (all []journal.Unreadable, err error) {
	size := 0
	err = j.read(ctx, func(row *sql.Rows) (bool, error) {
		if size >= journal.QuarantineBytes || len(all) >= limit {
			return false, nil
		}
		if _, u, err := scanUnreadable(row); err == nil {
			all, size = append(all, u), size+len(u.Body)
		}
		return true, nil
	}, selectQuarantine+" ORDER BY number DESC")
	if isDamage(err) {
		err = nil
	}
	return slices.Clip(all), err
}

// read calls each with the rows of a query, until it wants no more.
func (j *Journal) read(ctx context.Context, each func(*sql.Rows) (more bool, err error), query string,
	args ...any) (err error) {
	if _, _, err := j.now(); err != nil {
		return err
	}
	defer journal.Recovered(&err)
	rows, err := j.db.QueryContext(ctx, query, args...)
	if err != nil {
		return j.readError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := each(rows); err != nil || !more {
			return err
		}
	}
	return j.readError(ctx, rows.Err())
}

func (j *Journal) readError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sql.ErrConnDone), err.Error() == "sql: database is closed":
		return journal.ErrClosed
	}
	return j.explain("read", err)
}
