package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// countTimeout bounds the count of the events when a journal is opened: what is
// missing of more than can be counted by then shows when it is read.
const countTimeout = "2s"

const (
	countStatement    = "SELECT oldest, head, (SELECT count(*) FROM tillwatch_events) FROM tillwatch_journal"
	codeQueryCanceled = "57014"
)

var errIncomplete = errors.New("restore it from a copy, or name another database")

// checkContinuity reports whether all events are there that can be read. Their
// numbers are unique, so that it is enough to count them.
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
