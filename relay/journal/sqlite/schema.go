package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"tillwatch/relay/journal"
)

// applicationID marks the file as a journal in its SQLite header; version is the
// version of the schema.
const (
	applicationID = 0x74696c6c
	version       = 4
)

// packs holds the events, see [pack]; repeats counts their repetitions. id_digests
// holds the digests of whole runs of ids: a journal of millions opens without reading
// its events, and ids outlive their pruned events.
const schema = `
CREATE TABLE journal (
	epoch  TEXT NOT NULL,
	checks INTEGER NOT NULL DEFAULT 0,
	owner  TEXT NOT NULL DEFAULT ''
);
CREATE TABLE packs (
	last   INTEGER PRIMARY KEY,
	first  INTEGER NOT NULL,
	events BLOB NOT NULL,
	latest INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE repeats (
	seq        INTEGER PRIMARY KEY,
	duplicates INTEGER NOT NULL,
	conflicts  INTEGER NOT NULL
);
CREATE TABLE id_digests (first INTEGER PRIMARY KEY, digests BLOB NOT NULL);
CREATE TABLE quarantine (
	number   INTEGER PRIMARY KEY,
	received INTEGER NOT NULL,
	reason   TEXT NOT NULL,
	body     BLOB NOT NULL
);
`

// prepareSchema creates the tables in an empty file, refuses any other file that is
// no journal of this version, and returns the epoch.
func prepareSchema(ctx context.Context, c *sql.Conn) (epoch string, err error) {
	var application, found, tables int
	row := c.QueryRowContext(ctx, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version")
	if err := row.Scan(&application, &found, &tables); err != nil {
		return "", err
	}
	switch {
	case tables == 0:
		if err := createSchema(ctx, c); err != nil {
			return "", err
		}
	case application != applicationID:
		return "", errForeign
	case found < version:
		return "", fmt.Errorf("%w (format %d, this program reads %d)", errOlder, found, version)
	case found > version:
		return "", fmt.Errorf("%w (format %d, this program reads %d)", errNewer, found, version)
	}
	err = c.QueryRowContext(ctx, "SELECT epoch FROM journal").Scan(&epoch)
	return epoch, err
}

func createSchema(ctx context.Context, c *sql.Conn) error {
	statements := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d;",
		schema, applicationID, version)
	if _, err := c.ExecContext(ctx, statements); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "INSERT INTO journal (epoch) VALUES (?)", journal.NewEpoch()); err != nil {
		return err
	}
	_, err := c.ExecContext(ctx, "COMMIT")
	return err
}
