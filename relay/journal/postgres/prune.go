package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// pruneStep bounds the events that one transaction removes: appends wait for it.
const pruneStep = 2000

// sizeExpression is the size of an event: its texts, its body, and an estimate of its
// row and index entry.
const sizeExpression = "length(body) + length(id) + length(type) + 112"

// Statements of a step: which of the oldest events go, and their removal. They run
// under the lock of the head.
const (
	olderStatement = `
WITH step AS (
	SELECT seq, received FROM tillwatch_events WHERE seq >= $1 ORDER BY seq LIMIT $2
), bound AS (
	SELECT coalesce(min(seq) FILTER (WHERE received >= $3), max(seq) + 1) AS keep FROM step
)` + removeStatement

	removeStatement = `, gone AS (
	DELETE FROM tillwatch_events USING bound WHERE seq >= $1 AND seq < bound.keep RETURNING ` + sizeExpression + ` AS size
), moved AS (
	UPDATE tillwatch_journal SET oldest = (SELECT keep FROM bound), bytes = bytes - (SELECT sum(size) FROM gone)::bigint
	WHERE EXISTS (SELECT FROM gone)
)
SELECT count(*) FROM gone`
)

// Prune removes old events in steps, each in a transaction of its own. It also
// removes quarantined bodies of that age, and does not count them. Several relays may
// prune at once.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	if _, err := j.execute(ctx, "DELETE FROM tillwatch_quarantine WHERE received < $1", journal.Nanoseconds(t)); err != nil {
		return 0, err
	}
	return journal.PruneSteps(func() (count int64, err error) {
		err = j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error { // under the lock of the head
			var oldest int64
			if err := tx.QueryRow(ctx, "SELECT oldest FROM tillwatch_journal FOR UPDATE").Scan(&oldest); err != nil {
				return err
			}
			return tx.QueryRow(ctx, olderStatement, oldest, pruneStep, journal.Nanoseconds(t)).Scan(&count)
		})
		return count, err
	})
}

// changing runs change in a transaction.
func (j *Journal) changing(ctx context.Context, change func(context.Context, pgx.Tx) error) error {
	return j.bounded(ctx, "write", func(ctx context.Context) error {
		options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
		return pgx.BeginTxFunc(ctx, j.pool, options, func(tx pgx.Tx) error { return change(ctx, tx) })
	})
}

// quarantineStatement deletes old bodies, too. It does not see the one that it adds.
const quarantineStatement = `
WITH added AS (INSERT INTO tillwatch_quarantine (received, reason, body) VALUES ($1, $2, $3))
DELETE FROM tillwatch_quarantine WHERE number <= (SELECT number FROM tillwatch_quarantine ORDER BY number DESC LIMIT 1 OFFSET $4)`

// Quarantine keeps a body that is not an event, and the newest of earlier ones.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	_, err := j.execute(ctx, quarantineStatement,
		journal.Nanoseconds(u.Received), []byte(u.Reason), journal.NonNil(u.Body), journal.MostQuarantined-1)
	return err
}

// Check commits a change to the row that every append changes.
func (j *Journal) Check(ctx context.Context) error {
	changed, err := j.execute(ctx, "UPDATE tillwatch_journal SET checks = checks + 1")
	if err == nil && changed != 1 {
		err = fmt.Errorf("write the journal: it %w", errMissing)
	}
	return err
}

// execute runs one statement and returns the number of rows that it changed.
func (j *Journal) execute(ctx context.Context, statement string, arguments ...any) (changed int64, err error) {
	err = j.bounded(ctx, "write", func(ctx context.Context) error {
		tag, err := j.pool.Exec(ctx, statement, arguments...)
		changed = tag.RowsAffected()
		return err
	})
	return changed, err
}
