package sqlite

import (
	"context"
	"database/sql"
	"sync/atomic"
)

const (
	// copyEvery is how many bytes are written before the log is copied into the
	// database once more.
	copyEvery = 8 << 20
	// maxLogPages bounds the log, about: beyond it the writer copies the rest
	// itself, so that the log begins anew. Opening after a crash reads that much.
	maxLogPages = 8192
)

// checkpointer copies the log into the database beside the writer, so that
// commits do not wait for it.
type checkpointer struct {
	db    *sql.DB
	wake  chan struct{}
	done  chan struct{}
	every int         // bytes that are written between two copies
	pages int         // the bound of the log
	since int         // bytes since the last copy was asked for; of the writer
	long  atomic.Bool // the log is beyond its bound
}

// openCheckpointer begins to copy when it is told to.
func openCheckpointer(in folder) (*checkpointer, error) {
	db, err := in.database(databaseName, "busy_timeout(5000)", "synchronous(NORMAL)", "cache_size(-64)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &checkpointer{db: db, wake: make(chan struct{}, 1), done: make(chan struct{}), every: copyEvery, pages: maxLogPages}
	go c.run()
	return c, nil
}

func (c *checkpointer) run() {
	defer close(c.done)
	for range c.wake {
		// Where it fails the log grows until the writer meets the same error.
		_ = c.copy()
	}
}

func (c *checkpointer) copy() (err error) {
	defer recovered(&err)
	pages, err := checkpoint(context.Background(), c.db)
	if err == nil && pages > c.pages {
		c.long.Store(true)
	}
	return err
}

// noted counts what the writer has written.
func (c *checkpointer) noted(bytes int) {
	const overhead = 3 * 4096 // the pages that any transaction writes, about
	if c.since += bytes + overhead; c.since < c.every {
		return
	}
	c.since = 0
	select {
	case c.wake <- struct{}{}:
	default: // it is still copying
	}
}

// finish copies what is left of a log beyond its bound, on the writer's
// connection between two transactions: the next one begins the log anew.
func (c *checkpointer) finish(ctx context.Context, writing *sql.Conn) error {
	if !c.long.Swap(false) {
		return nil
	}
	_, err := checkpoint(ctx, writing)
	return err
}

// checkpoint copies what it can without waiting for anybody and returns how
// many pages the log has.
func checkpoint(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (pages int, err error) {
	var busy, copied int
	err = q.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	return pages, err
}

// close waits for what it is doing.
func (c *checkpointer) close() error {
	close(c.wake)
	<-c.done
	return c.db.Close()
}
