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
	// migrateLock keeps relays that start together from upgrading twice.
	migrateLock    = 0x74696c6c77617463
	migrateTimeout = time.Minute
	minimumVersion = 130000 // as server_version_num
)

// migrations returns the steps from each version of the schema to the next;
// the first makes an empty one. Steps that were released never change.
//
// Ids are kept apart from events, as digests, so that they outlive their
// pruned events. Text that came from outside is bytea: it need not be UTF-8 and
// may hold zeros. Times are nanoseconds, which timestamptz would round.
func migrations() []string {
	return []string{`
CREATE TABLE tillwatch_journal (
	singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
	version   integer NOT NULL,
	epoch     text NOT NULL,
	head      bigint NOT NULL DEFAULT 0,
	oldest    bigint NOT NULL DEFAULT 1,
	bytes     bigint NOT NULL DEFAULT 0,
	checks    bigint NOT NULL DEFAULT 0
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
	body       bytea NOT NULL
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
);`, `
CREATE TABLE tillwatch_documents (
	name    text PRIMARY KEY,
	content bytea NOT NULL
);`, `
ALTER TABLE tillwatch_journal ADD COLUMN latest bigint NOT NULL DEFAULT 0;
ALTER TABLE tillwatch_events ADD COLUMN latest bigint NOT NULL DEFAULT 0;
UPDATE tillwatch_journal SET latest = (SELECT coalesce(max(received), 0) FROM tillwatch_events);`, `
CREATE UNLOGGED TABLE tillwatch_observations (
	position bigint PRIMARY KEY,
	id       text NOT NULL UNIQUE,
	content  bytea NOT NULL
);`,
	}
}

func version() int { return len(migrations()) }

// migrate brings the tables to this program's version in one transaction.
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
		return upgrade(ctx, tx)
	})
}

func upgrade(ctx context.Context, tx pgx.Tx) error {
	found, err := foundVersion(ctx, tx)
	if err != nil {
		return err
	}
	if found > version() {
		return fmt.Errorf("%w (format %d, this program reads up to %d)", errNewer, found, version())
	}
	for _, step := range migrations()[found:] {
		if _, err := tx.Exec(ctx, step); err != nil {
			return err
		}
	}
	if found == 0 {
		_, err = tx.Exec(ctx, "INSERT INTO tillwatch_journal (version, epoch) VALUES ($1, $2)", version(), journal.NewEpoch())
	} else {
		_, err = tx.Exec(ctx, "UPDATE tillwatch_journal SET version = $1 WHERE version <> $1", version())
	}
	return err
}

// foundVersion is 0 in a database without a journal.
func foundVersion(ctx context.Context, tx pgx.Tx) (found int, err error) {
	var exists bool
	err = tx.QueryRow(ctx, "SELECT to_regclass('tillwatch_journal') IS NOT NULL").Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	err = tx.QueryRow(ctx, "SELECT version FROM tillwatch_journal").Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, errMissing
	}
	return found, err
}
