package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tillwatch/relay/journal"
)

const (
	callTimeout    = 10 * time.Second
	connectTimeout = 5 * time.Second
	prepareTimeout = time.Minute

	version    = 5                  // of the schema
	createLock = 0x74696c6c77617463 // keeps relays that start together from creating the tables twice
)

// session applies to every connection, once it is open: PgBouncer refuses settings in a startup message. A relay
// writes, whatever the database's default is. One that freezes while it holds the lock must not stop the others for
// long: the server ends its transaction. A reported commit is on the disk. Every event and id is found by an index: a
// plan made while the tables were empty must not read them whole.
const session = `
SELECT set_config('default_transaction_read_only', 'off', false),
       set_config('idle_in_transaction_session_timeout', '5s', false),
       set_config('statement_timeout', '8s', false),
       set_config('enable_seqscan', 'off', false),
       set_config('enable_hashjoin', 'off', false),
       set_config('enable_mergejoin', 'off', false),
       set_config('jit', 'off', false),
       CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`

// tables are those of the journal in a file, and the texts that relays share. Text from outside is bytea: it need not
// be UTF-8 and may hold zeros. Times are nanoseconds, which timestamptz would round.
const tables = `
CREATE TABLE tillwatch_journal (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), version integer NOT NULL,
	epoch text NOT NULL, head bigint NOT NULL DEFAULT 0, oldest bigint NOT NULL DEFAULT 1,
	latest bigint NOT NULL DEFAULT 0, checks bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);
CREATE TABLE tillwatch_ids (digest uuid PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE tillwatch_events (seq bigint PRIMARY KEY, id bytea NOT NULL, type bytea NOT NULL, created bigint NOT NULL,
	received bigint NOT NULL, latest bigint NOT NULL, origin bytea NOT NULL, duplicates bigint NOT NULL,
	conflicts bigint NOT NULL, body bytea NOT NULL, sum bigint NOT NULL);
CREATE TABLE tillwatch_quarantine (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, received bigint NOT NULL,
	reason bytea NOT NULL, body bytea NOT NULL);
CREATE TABLE tillwatch_documents (name text PRIMARY KEY, content bytea NOT NULL);`

// database is an open pool of connections to a database that holds the tables.
type database struct {
	pool *pgxpool.Pool
	life context.Context // ends with close
	end  context.CancelFunc
}

// connect opens the database that dsn names, and creates the tables if there are none.
func connect(ctx context.Context, dsn string) (*database, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	d := &database{}
	d.life, d.end = context.WithCancel(context.Background())
	if d.pool, err = pgxpool.NewWithConfig(d.life, config); err == nil {
		if err = d.prepare(ctx); err != nil {
			d.pool.Close()
		}
	}
	if err != nil {
		d.end()
		return nil, explain(config.ConnConfig, err)
	}
	return d, nil
}

// prepare creates the tables, or checks their version.
func (d *database) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		var found int
		var exists bool
		// Another relay may take its time.
		_, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', '0', true), pg_advisory_xact_lock($1)",
			int64(createLock))
		if err == nil {
			err = tx.QueryRow(ctx, "SELECT to_regclass('tillwatch_journal') IS NOT NULL").Scan(&exists)
		}
		if err == nil && !exists {
			if _, err = tx.Exec(ctx, tables); err == nil {
				_, err = tx.Exec(ctx, "INSERT INTO tillwatch_journal (version, epoch) VALUES ($1, $2)", version, journal.NewEpoch())
			}
		}
		if err == nil {
			err = tx.QueryRow(ctx, "SELECT version FROM tillwatch_journal").Scan(&found)
		}
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return errMissing
		case err == nil && found != version:
			return fmt.Errorf("%w (format %d, this program reads %d)", errVersion, found, version)
		}
		return err
	})
}

func (d *database) close() {
	d.end()
	d.pool.Close()
}

// bounded runs work until ctx ends, the database is closed, or callTimeout. verb goes into its error.
func (d *database) bounded(ctx context.Context, verb string, work func(context.Context) error) error {
	if d.life.Err() != nil {
		return journal.ErrClosed
	}
	within, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(d.life, cancel)()
	err := work(within)
	switch {
	case err == nil:
		return nil
	case d.life.Err() != nil:
		return journal.ErrClosed
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = errors.Join(ctx.Err(), err)
	}
	return fmt.Errorf("%s the journal: %w", verb, oneLine{err})
}

// changing runs change in a transaction.
func (d *database) changing(ctx context.Context, change func(context.Context, pgx.Tx) error) error {
	return d.bounded(ctx, "write", func(ctx context.Context) error {
		// Each statement sees what was committed before it began: after a lock, all that its earlier holders wrote.
		options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
		return pgx.BeginTxFunc(ctx, d.pool, options, func(tx pgx.Tx) error { return change(ctx, tx) })
	})
}
