package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tillwatch/relay/journal"
)

const columns = "seq, id, type, created, received, origin, duplicates, conflicts, body"

// Read reads committed records beside the writer, without waiting for it.
func (j *Journal) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	head, err := j.Head(ctx)
	if err != nil {
		return nil, err
	}
	if after >= head || limit <= 0 {
		return nil, nil
	}
	rows, err := j.reading.QueryContext(ctx,
		"SELECT "+columns+" FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, head, limit)
	if err != nil {
		return nil, readError(err)
	}
	defer rows.Close()
	records := make([]journal.Record, 0, min(int64(limit), head-after))
	for bytes := 0; bytes < journal.ReadBytes && rows.Next(); {
		record, err := scan(rows)
		if err != nil {
			return nil, readError(err)
		}
		records = append(records, record)
		bytes += len(record.Body)
	}
	return records, readError(rows.Err())
}

// Find looks the id up in memory and reads its record.
func (j *Journal) Find(ctx context.Context, id string) (journal.Record, bool, error) {
	head, err := j.Head(ctx)
	if err != nil {
		return journal.Record{}, false, err
	}
	seq, found := j.known(digestOf(id))
	if !found || seq > head {
		return journal.Record{}, false, nil
	}
	record, err := scan(j.reading.QueryRowContext(ctx, "SELECT "+columns+" FROM events WHERE seq = ?", seq))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return journal.Record{Seq: seq, Entry: journal.Entry{ID: id}}, true, nil
	case err != nil:
		return journal.Record{}, false, readError(err)
	}
	return record, true, nil
}

// Quarantined reads the newest quarantined bodies.
func (j *Journal) Quarantined(ctx context.Context, limit int) ([]journal.Unreadable, error) {
	if _, err := j.Head(ctx); err != nil {
		return nil, err
	}
	rows, err := j.reading.QueryContext(ctx,
		"SELECT received, reason, body FROM quarantine ORDER BY number DESC LIMIT ?", max(limit, 0))
	if err != nil {
		return nil, readError(err)
	}
	defer rows.Close()
	var all []journal.Unreadable
	for rows.Next() {
		var u journal.Unreadable
		var received int64
		if err := rows.Scan(&received, &u.Reason, &u.Body); err != nil {
			return nil, readError(err)
		}
		u.Received = instant(received)
		all = append(all, u)
	}
	return all, readError(rows.Err())
}

func scan(row interface{ Scan(...any) error }) (journal.Record, error) {
	var r journal.Record
	var created, received int64
	err := row.Scan(&r.Seq, &r.ID, &r.Type, &created, &received, &r.Origin, &r.Duplicates, &r.Conflicts, &r.Body)
	r.CreatedAt, r.Received = instant(created), instant(received)
	return r, err
}

func readError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the journal: %w", err)
}
