package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	recordColumns = "seq, id, type, created, received, latest, origin, duplicates, conflicts, body"

	// The server itself stops at ReadBytes: no more bodies than needed travel.
	readStatement = `
SELECT ` + recordColumns + `
FROM (
	SELECT *, sum(length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
	FROM (SELECT * FROM tillwatch_events WHERE seq > $1 ORDER BY seq LIMIT $2) AS window_of_events
) AS sized
WHERE coalesce(before, 0) < $3
ORDER BY seq`

	findStatement = "SELECT seq FROM tillwatch_ids WHERE digest = $1"
	oneStatement  = "SELECT " + recordColumns + " FROM tillwatch_events WHERE seq = $1"

	// Likewise.
	quarantinedStatement = `
SELECT received, reason, body
FROM (
	SELECT *, sum(length(body)) OVER (ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
	FROM tillwatch_quarantine
) AS sized
WHERE coalesce(before, 0) < $2
ORDER BY number DESC LIMIT $1`
)

// Read reads what any relay has committed, without holes: numbers become visible in
// their order.
func (j *Journal) Read(ctx context.Context, after int64, limit int) (records []journal.Record, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		rows, err := j.pool.Query(ctx, readStatement, after, max(limit, 0), journal.ReadBytes)
		if err != nil {
			return err
		}
		records, err = pgx.CollectRows(rows, scanRecord)
		return err
	})
	return records, err
}

func scanRecord(row pgx.CollectableRow) (journal.Record, error) {
	var r journal.Record
	var id, kind []byte
	var created, received, latest int64
	err := row.Scan(&r.Seq, &id, &kind, &created, &received, &latest, &r.Origin, &r.Duplicates, &r.Conflicts, &r.Body)
	r.ID, r.Type = string(id), string(kind)
	r.CreatedAt, r.Received, r.Latest = journal.Instant(created), journal.Instant(received), journal.Instant(latest)
	return r, err
}

// Find looks an id up among all ids ever stored.
func (j *Journal) Find(ctx context.Context, id string) (r journal.Record, found bool, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		var seq int64
		if err := j.pool.QueryRow(ctx, findStatement, journal.DigestOf(id)).Scan(&seq); err != nil {
			return unlessNone(err)
		}
		found, r = true, journal.Record{Seq: seq, Entry: journal.Entry{ID: id}}
		rows, err := j.pool.Query(ctx, oneStatement, seq)
		if err != nil {
			return err
		}
		kept, err := pgx.CollectExactlyOneRow(rows, scanRecord)
		if err == nil {
			r = kept
		}
		return unlessNone(err) // it was pruned
	})
	if err != nil {
		return journal.Record{}, false, err
	}
	return r, found, nil
}

// unlessNone returns err, or nil if err says that there is no such row.
func unlessNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// Quarantined reads the newest quarantined bodies.
func (j *Journal) Quarantined(ctx context.Context, limit int) (all []journal.Unreadable, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		rows, err := j.pool.Query(ctx, quarantinedStatement, max(limit, 0), journal.QuarantineBytes)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (journal.Unreadable, error) {
			var u journal.Unreadable
			var received int64
			var reason []byte
			err := row.Scan(&received, &reason, &u.Body)
			u.Received, u.Reason = journal.Instant(received), string(reason)
			return u, err
		})
		return err
	})
	return all, err
}
