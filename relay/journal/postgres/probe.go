package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNoJournal says that a database holds no journal yet.
var ErrNoJournal = errors.New("there is no journal in it yet: the first relay makes it")

// Probe reads the state of the journal in the database that dsn names, and changes
// nothing. warning says why the server may lose acknowledged events; "" if it is safe.
// Its errors are [ErrNoJournal] and those of [Open].
func Probe(ctx context.Context, dsn string) (head int64, warning string, err error) {
	config, err := parse(dsn)
	if err != nil {
		return 0, "", err
	}
	connection, err := connect(ctx, config.ConnConfig)
	if err != nil {
		return 0, "", explain(config.ConnConfig, err)
	}
	defer disconnect(connection)
	found, err := look(ctx, connection)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == codeUndefinedTable:
		return 0, "", ErrNoJournal
	case errors.Is(err, pgx.ErrNoRows):
		err = errMissing
	case err == nil:
		warning, err = unsafety(ctx, connection)
	}
	if err != nil {
		return 0, "", explain(config.ConnConfig, err)
	}
	return found.head, warning, nil
}

// unsafety says why a server may lose acknowledged events; "" if it is safe.
func unsafety(ctx context.Context, connection *pgx.Conn) (warning string, err error) {
	var synced bool
	err = connection.QueryRow(ctx, "SELECT current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean").Scan(&synced)
	if err == nil && !synced {
		warning = "this PostgreSQL may lose acknowledged events in a power cut: set fsync and full_page_writes to on"
	}
	return warning, err
}
