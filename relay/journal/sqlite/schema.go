package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"tillwatch/relay/journal"
)

// applicationID marks the file as a journal in its SQLite header; version is
// that of the schema. Version 1, of before the first release, held a row an event.
const (
	applicationID = 0x74696c6c
	version       = 4
	upgradable    = 2
)

// upgrades are the steps from each version that can be upgraded to the next.
func upgrades() []string {
	return []string{
		"ALTER TABLE packs ADD COLUMN latest INTEGER NOT NULL DEFAULT 0",
		"ALTER TABLE journal ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
	}
}

// packs hold the events, see [pack]; repeats those that came again. id_digests
// holds the digests of whole runs of ids, so that a journal of millions opens
// without reading its events, and so that ids outlive their pruned events.
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

// prepareSchema creates the tables in an empty file, refuses a file that is
// something else, and returns the epoch.
func prepareSchema(ctx context.Context, c *sql.Conn) (epoch string, err error) {
	var application, found, tables int
	for pragma, into := range map[string]*int{
		"PRAGMA application_id":              &application,
		"PRAGMA user_version":                &found,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := c.QueryRowContext(ctx, pragma).Scan(into); err != nil {
			return "", err
		}
	}
	switch {
	case tables == 0:
		if err := createSchema(ctx, c); err != nil {
			return "", err
		}
	case application != applicationID:
		return "", errForeign
	case found < upgradable:
		return "", fmt.Errorf("%w (format %d, this program reads %d)", errOlder, found, version)
	case found > version:
		return "", fmt.Errorf("%w (format %d, this program reads %d)", errNewer, found, version)
	case found < version:
		if err := upgradeSchema(ctx, c, upgrades()[found-upgradable:]); err != nil {
			return "", err
		}
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

// upgradeSchema takes steps once no other process has the journal open: one of an
// earlier version takes no notice of this one's locks, but the switch to another
// kind of log is refused while it runs.
func upgradeSchema(ctx context.Context, c *sql.Conn, steps []string) error {
	_, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA journal_mode = DELETE;
BEGIN EXCLUSIVE;
%s;
PRAGMA user_version = %d;
COMMIT;
PRAGMA journal_mode = WAL;`, strings.Join(steps, ";\n"), version))
	return err
}
