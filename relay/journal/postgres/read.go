package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	recordColumns = "seq, id, type, created, received, latest, origin, duplicates, conflicts, body, sum"
	selectRecords = "SELECT " + recordColumns + " FROM tillwatch_events"

	// selectPage stops at ReadBytes in the server: no more bodies than needed travel.
	selectPage = "SELECT " + recordColumns + ` FROM
	(SELECT *, sum(length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
	 FROM (SELECT * FROM tillwatch_events WHERE seq > $1 ORDER BY seq LIMIT $2) AS step) AS sized
	WHERE coalesce(before, 0) < $3 ORDER BY seq`
)

func scanRecord(row pgx.CollectableRow) (r journal.Record, err error) {
	var id, kind, origin []byte
	var created, received, latest, sum int64
	err = row.Scan(&r.Seq, &id, &kind, &created, &received, &latest, &origin, &r.Duplicates, &r.Conflicts, &r.Body, &sum)
	r.ID, r.Type, r.Origin = string(id), string(kind), journal.Origin(origin)
	r.CreatedAt, r.Received, r.Latest = journal.Instant(created), journal.Instant(received), journal.Instant(latest)
	return r.Verified(sum), err
}

// Read reads what any relay has committed.
func (j *Journal) Read(ctx context.Context, after int64, limit int) (records []journal.Record, err error) {
	if limit <= 0 {
		limit = 0
	}
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		var s state
		var requests pgx.Batch
		requests.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") // one picture of the head and the events
		requests.Queue(selectState).QueryRow(func(row pgx.Row) (err error) {
			s, err = scanState(row)
			return err
		})
		requests.Queue(selectPage, after, limit, journal.ReadBytes).Query(func(rows pgx.Rows) (err error) {
			records, err = pgx.CollectRows(rows, scanRecord)
			return err
		})
		requests.Queue("COMMIT")
		if err := j.pool.SendBatch(ctx, &requests).Close(); err != nil {
			return err
		}
		size := 0
		for _, r := range records {
			size += len(r.Body)
		}
		if size >= journal.ReadBytes {
			s.head = records[len(records)-1].Seq // what follows was not read
		}
		records = journal.WithoutHoles(records, max(after+1, s.oldest), s.head, limit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// Find looks an id up among all ids ever stored.
func (j *Journal) Find(ctx context.Context, id string) (r journal.Record, found bool, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		var seq, oldest int64
		err := j.pool.QueryRow(ctx, "SELECT i.seq, j.oldest FROM tillwatch_ids i, tillwatch_journal j WHERE i.digest = $1",
			journal.DigestOf(id)).Scan(&seq, &oldest)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if found = err == nil; !found {
			return err
		}
		rows, _ := j.pool.Query(ctx, selectRecords+" WHERE seq = $1", seq)
		r, err = pgx.CollectExactlyOneRow(rows, scanRecord)
		if errors.Is(err, pgx.ErrNoRows) {
			r.Damaged, err = seq >= oldest, nil
		}
		r.Seq, r.ID = seq, id
		return err
	})
	return r, found && err == nil, err
}

// Quarantined reads the newest quarantined bodies.
func (j *Journal) Quarantined(ctx context.Context, limit int) (all []journal.Unreadable, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		rows, _ := j.pool.Query(ctx, `SELECT received, reason, body FROM
			(SELECT *, sum(length(body)) OVER (ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
			 FROM tillwatch_quarantine) AS sized
			WHERE coalesce(before, 0) < $2 ORDER BY number DESC LIMIT $1`, max(limit, 0), journal.QuarantineBytes)
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u journal.Unreadable, err error) {
			var received int64
			var reason []byte
			err = row.Scan(&received, &reason, &u.Body)
			u.Received, u.Reason = journal.Instant(received), string(reason)
			return u, err
		})
		return err
	})
	return all, err
}
