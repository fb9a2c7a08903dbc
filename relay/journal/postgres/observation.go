package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// A relay counts the observations of all relays after every trimEvery of its own, as
// counting takes longer than adding.
const trimEvery = 1000

// Statements about observations. Those that write run under a lock: positions become
// visible in their order. Positions are times of the database.
const (
	lockObservations = "LOCK TABLE tillwatch_observations IN SHARE ROW EXCLUSIVE MODE"

	microseconds = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

	addObservations = `
WITH newest AS (SELECT greatest(` + microseconds + `, max(position)) AS position FROM tillwatch_observations)
INSERT INTO tillwatch_observations (position, id, content)
SELECT newest.position + place, id, content
FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS g (id, content, place), newest
ON CONFLICT (id) DO NOTHING`

	expireObservations = "DELETE FROM tillwatch_observations WHERE position < " + microseconds + " - $1::bigint"

	trimObservations = `
DELETE FROM tillwatch_observations
WHERE position <= (SELECT position FROM tillwatch_observations ORDER BY position DESC OFFSET $1 LIMIT 1)`

	selectObservations = `
SELECT position, id, content FROM tillwatch_observations
WHERE position > $1 AND position >= ` + microseconds + ` - $2::bigint
ORDER BY position LIMIT $3`
)

var _ journal.Observed = (*Journal)(nil)

// AddObservations implements [journal.Observed], in an unlogged table, which is empty
// after the server has crashed. It uses at most one of the relay's connections at a
// time.
func (j *Journal) AddObservations(ctx context.Context, all []journal.Observation, span time.Duration, most int) (fresh, dropped int, err error) {
	select {
	case j.observing <- struct{}{}:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	defer func() { <-j.observing }()
	ids, texts := make([]string, len(all)), make([][]byte, len(all))
	for i, o := range all {
		ids[i], texts[i] = o.ID, o.Text
	}
	j.untrimmed += len(all)
	err = j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockObservations); err != nil {
			return err
		}
		added, err := tx.Exec(ctx, addObservations, ids, texts)
		if err != nil {
			return err
		}
		fresh = int(added.RowsAffected())
		if _, err := tx.Exec(ctx, expireObservations, span.Microseconds()); err != nil || j.untrimmed < trimEvery {
			return err
		}
		trimmed, err := tx.Exec(ctx, trimObservations, most)
		dropped = int(trimmed.RowsAffected())
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if j.untrimmed >= trimEvery {
		j.untrimmed = 0
	}
	return fresh, dropped, nil
}

// Observations implements [journal.Observed].
func (j *Journal) Observations(ctx context.Context, after int64, span time.Duration, limit int) (all []journal.Observation, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		rows, err := j.pool.Query(ctx, selectObservations, after, span.Microseconds(), limit)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[journal.Observation])
		return err
	})
	return all, err
}
