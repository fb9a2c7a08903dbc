package sqlite

import (
	"context"
	"database/sql"
)

// The log is copied into the database often, so that it stays short: the database
// grows by what it holds, and where a long log has filled the disk there is no
// room for that. A copy costs two syncs.
const (
	// copyPages is how many pages SQLite lets the log have before it copies it
	// after a commit, so that the next one begins it anew.
	copyPages = 256
	// keptLog is the size to which the file is cut when it is begun anew.
	keptLog = 1 << 20
	// maxLog is the size beyond which the log is copied before anything is written:
	// SQLite's own copy has failed then, or met a reader each time.
	maxLog = 2 << 20
	// maxBatch bounds what a transaction adds to the log, but for one large event.
	maxBatch = 1 << 20
)

// boundLog copies the log where it is long, and after a failure: whatever room is
// in it can be used again. A reader that stays in the way lets it grow.
func (w *writer) boundLog(ctx context.Context) error {
	size, err := w.claim.log.size()
	if err != nil {
		return err
	}
	long := size > w.longest
	if !long && !w.failed {
		return nil
	}
	done, err := copyLog(ctx, w.connection, "RESTART")
	switch {
	case err != nil && long:
		return err
	case done:
		w.longest = maxLog
	case long:
		w.longest = size + maxLog
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
