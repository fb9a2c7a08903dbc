package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// countTimeout bounds the count of events when a journal is opened. In a journal too
// large to count in time, missing events show when they are read.
const countTimeout = "2s"

const (
	countStatement    = "SELECT oldest, head, (SELECT count(*) FROM tillwatch_events) FROM tillwatch_journal"
	codeQueryCanceled = "57014"
)

var errIncomplete = errors.New("restore it from a copy, or name another database")

// checkContinuity returns an error if events are missing between the oldest and the
// head. Their numbers are unique: counting them is enough.
func checkContinuity(ctx context.Context, connection *pgx.Conn) error {
	var oldest, head, count int64
	err := pgx.BeginTxFunc(ctx, connection, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '"+countTimeout+"'"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, countStatement).Scan(&oldest, &head, &count)
	})
	var refused *pgconn.PgError
	switch due := head - oldest + 1; {
	case errors.As(err, &refused) && refused.Code == codeQueryCanceled:
		return nil
	case err != nil:
		return err
	case count != due:
		return fmt.Errorf("holds %d events where there should be %d (%d to %d): %w", count, due, oldest, head, errIncomplete)
	}
	return nil
}
