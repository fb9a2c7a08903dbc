package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// The log is copied into the database often, so that it stays short: the database
// grows by what it holds, and where a long log has filled the disk there is no
// room for that. A copy costs two syncs: where there is much room, it is done less
// often.
const (
	leastLog = 1 << 20
	mostLog  = 4 << 20
	// logShare is the part of the room on the disk that the log may take.
	logShare = 16
	// maxBatch bounds what a transaction adds to the log, but for one large event.
	maxBatch = 1 << 20
)

// shortenLog copies the log when it is long, after a commit and its answers. The
// next transaction begins it anew. Where that fails the log grows until boundLog
// meets the same error.
func (w *writer) shortenLog(written int) {
	const overhead = 3 * pageSize // what any transaction writes
	if w.written += written + overhead; w.written < w.logSize {
		return
	}
	w.written = 0
	ctx := context.Background()
	if _, err := copyLog(ctx, w.connection, "PASSIVE"); err == nil {
		_ = w.fitLog(ctx, w.connection)
	}
}

// fitLog fits the size of the log to the room on the disk. The file is cut to it
// when it is begun anew.
func (w *writer) fitLog(ctx context.Context, c *sql.Conn) error {
	w.logSize = w.fit()
	_, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA journal_size_limit = %d", w.logSize))
	return err
}

// logFor is the size of a log where there is so much room.
func logFor(room int64) int { return int(min(max(room/logShare, leastLog), mostLog)) }

// boundLog copies the log where it has grown beyond its size, and after a failure:
// whatever room is in it can be used again. A reader that stays in the way lets it
// grow.
func (w *writer) boundLog(ctx context.Context) error {
	size, err := w.claim.log.size()
	if err != nil {
		return err
	}
	long := size > max(2*int64(w.logSize), w.longest)
	if !long && !w.failed {
		return nil
	}
	done, err := copyLog(ctx, w.connection, "RESTART")
	switch {
	case err != nil && long:
		return err
	case done:
		w.longest = 0
		return w.fitLog(ctx, w.connection)
	case long:
		w.longest = size + int64(w.logSize)
	}
	return nil
}

// copyLog copies the log into the database. It waits for readers in its way for
// as long as the connection's busy_timeout says.
func copyLog(ctx context.Context, c *sql.Conn, mode string) (done bool, err error) {
	var busy, pages, copied int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return err == nil && busy == 0, err
}
