package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// pruneStep bounds the events that one transaction removes, so that appends do
// not wait long behind it.
const pruneStep = 2000

// pruneStatement removes the oldest run of events that are all older than a
// time, at most a step long. It runs under the lock of the head.
const pruneStatement = `
WITH step AS (
	SELECT seq, received FROM tillwatch_events WHERE seq >= $1 ORDER BY seq LIMIT $2
), bound AS (
	SELECT coalesce(min(seq) FILTER (WHERE received >= $3), max(seq) + 1) AS keep FROM step
), gone AS (
	DELETE FROM tillwatch_events e USING bound WHERE e.seq >= $1 AND e.seq < bound.keep RETURNING e.seq
), moved AS (
	UPDATE tillwatch_journal SET oldest = (SELECT keep FROM bound) WHERE EXISTS (SELECT FROM gone)
)
SELECT count(*) FROM gone`

// Prune removes old events in steps, each durable by itself. It removes
// quarantined bodies of that age as well, without counting them. Several
// relays may prune at once.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	err := j.writing(ctx, func(ctx context.Context) error {
		_, err := j.pool.Exec(ctx, "DELETE FROM tillwatch_quarantine WHERE received < $1", nanoseconds(t))
		return err
	})
	if err != nil {
		return 0, err
	}
	var removed int64
	for {
		var step int64
		err := j.writing(ctx, func(ctx context.Context) (err error) {
			step, err = j.pruneStep(ctx, t)
			return err
		})
		removed += step
		if err != nil || step == 0 {
			return removed, err
		}
	}
}

func (j *Journal) pruneStep(ctx context.Context, t time.Time) (removed int64, err error) {
	options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	err = pgx.BeginTxFunc(ctx, j.pool, options, func(tx pgx.Tx) error {
		var locked state
		if err := tx.QueryRow(ctx, lockStatement).Scan(&locked.epoch, &locked.head, &locked.oldest); err != nil {
			return err
		}
		return tx.QueryRow(ctx, pruneStatement, locked.oldest, pruneStep, nanoseconds(t)).Scan(&removed)
	})
	if err != nil {
		return 0, err // whether it was committed is not known
	}
	return removed, nil
}

// Quarantine keeps a body that is no event.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return j.writing(ctx, func(ctx context.Context) error {
		_, err := j.pool.Exec(ctx, "INSERT INTO tillwatch_quarantine (received, reason, body) VALUES ($1, $2, $3)",
			nanoseconds(u.Received), []byte(u.Reason), nonNil(u.Body))
		return err
	})
}

// Check commits a change to the row that every append changes.
func (j *Journal) Check(ctx context.Context) error {
	return j.writing(ctx, func(ctx context.Context) error {
		tag, err := j.pool.Exec(ctx, "UPDATE tillwatch_journal SET checks = checks + 1")
		if err == nil && tag.RowsAffected() != 1 {
			err = errMissing
		}
		return err
	})
}
