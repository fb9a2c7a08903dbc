package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	// migrateLock keeps relays that start together from creating the tables twice.
	migrateLock    = 0x74696c6c77617463
	migrateTimeout = time.Minute
	minimumVersion = 130000 // as server_version_num
)

// version is the version of the schema.
const version = 4

// tables keeps digests of ids apart from events: they outlive pruned events. Text
// from outside is bytea: it need not be UTF-8 and may hold zeros. Times are
// nanoseconds, which timestamptz would round.
const tables = `
CREATE TABLE tillwatch_journal (
	singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
	version   integer NOT NULL,
	epoch     text NOT NULL,
	head      bigint NOT NULL DEFAULT 0,
	oldest    bigint NOT NULL DEFAULT 1,
	bytes     bigint NOT NULL DEFAULT 0,
	checks    bigint NOT NULL DEFAULT 0,
	latest    bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
CREATE TABLE tillwatch_events (
	seq        bigint PRIMARY KEY,
	id         bytea NOT NULL,
	type       bytea NOT NULL,
	created    bigint NOT NULL,
	received   bigint NOT NULL,
	origin     text NOT NULL,
	duplicates bigint NOT NULL DEFAULT 0,
	conflicts  bigint NOT NULL DEFAULT 0,
	body       bytea NOT NULL,
	latest     bigint NOT NULL DEFAULT 0
);
CREATE TABLE tillwatch_ids (
	digest uuid PRIMARY KEY,
	seq    bigint NOT NULL
);
CREATE TABLE tillwatch_quarantine (
	number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	received bigint NOT NULL,
	reason   bytea NOT NULL,
	body     bytea NOT NULL
);
CREATE TABLE tillwatch_documents (
	name    text PRIMARY KEY,
	content bytea NOT NULL
);`

// migrate creates the tables if there are none, and refuses those of another version.
func migrate(ctx context.Context, connection *pgx.Conn) error {
	var server int
	if err := connection.QueryRow(ctx, "SELECT current_setting('server_version_num')::integer").Scan(&server); err != nil {
		return err
	}
	if server < minimumVersion {
		return errTooOld
	}
	return pgx.BeginTxFunc(ctx, connection, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		// Another relay may take longer than a statement should.
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass('tillwatch_journal') IS NOT NULL").Scan(&exists); err != nil {
			return err
		}
		if exists {
			return checkVersion(ctx, tx)
		}
		if _, err := tx.Exec(ctx, tables); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO tillwatch_journal (version, epoch) VALUES ($1, $2)", version, journal.NewEpoch())
		return err
	})
}

func checkVersion(ctx context.Context, tx pgx.Tx) error {
	var found int
	err := tx.QueryRow(ctx, "SELECT version FROM tillwatch_journal").Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errMissing
	case err != nil:
		return err
	case found > version:
		return fmt.Errorf("%w (format %d, this program reads %d)", errNewer, found, version)
	case found < version:
		return fmt.Errorf("%w (format %d, this program reads %d)", errOlder, found, version)
	}
	return nil
}
