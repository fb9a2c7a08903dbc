package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

const (
	// logSize is how much is written before the log is copied into the database. The
	// database grows by what it holds; where a long log has filled the disk there is
	// no room for that. A copy waits for the disk twice, so it is not made more often.
	logSize = 2 << 20
	// maxBatch bounds what a transaction adds to the log, but for one large event.
	maxBatch = 1 << 20
	pageSize = 4096 // SQLite's default
)

// work is something to do in the next transaction.
type work = func(*batch) error

// writer owns the one connection that writes.
type writer struct {
	*groupcommit.Queue[work]
	journal *Journal
	claim   *claim
	db      *sql.DB
	owner   string // names this process in the database

	// Of the goroutine that runs the writer:
	connection *sql.Conn        // nil after a failure
	stored     int64            // ids up to here are in id_digests
	unstored   []journal.Digest // the ids that follow
	latest     int64            // time of receipt of all events
	written    int              // bytes since the log was copied
	longestLog int              // that many are written, the log is copied
	disowned   error            // why nothing may be written any more
	buffer     []byte           // of packs, for the next one
}

// openWriter opens the database, prepares its schema and loads the ids. A commit
// returns after it is on the disk (synchronous=FULL): measured against a sync of our
// own behind commits that do not wait, it is as fast.
func openWriter(ctx context.Context, in folder, j *Journal) (*writer, error) {
	db, err := in.database(j.claim,
		"busy_timeout(250)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)",
		"wal_autocheckpoint(0)", fmt.Sprintf("journal_size_limit(%d)", logSize))
	if err != nil {
		return nil, err
	}
	w := &writer{Queue: groupcommit.New[work](), journal: j, claim: j.claim, db: db, owner: journal.NewEpoch(), longestLog: logSize}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) begin(ctx context.Context) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	epoch, err := prepareSchema(ctx, connection)
	if err == nil {
		_, err = connection.ExecContext(ctx, "UPDATE journal SET owner = ?", w.owner)
	}
	if err := errors.Join(err, connection.Close()); err != nil {
		return err
	}
	w.journal.epoch = epoch
	if err := w.claim.log.open(0); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.compareMark(ctx)
}

// compareMark gives a database that has lost acknowledged events another epoch:
// their sequence numbers will be given to others.
func (w *writer) compareMark(ctx context.Context) error {
	j := w.journal
	head := j.newest()
	j.lostFrom, j.lostTo = head+1, j.mark.read(j.epoch)
	if j.lostTo < j.lostFrom {
		return nil
	}
	epoch := journal.NewEpoch()
	if _, err := w.connection.ExecContext(ctx, "UPDATE journal SET epoch = ?", epoch); err != nil {
		return err
	}
	j.epoch = epoch
	j.mark.write(epoch, head)
	w.claim.note()
	return nil
}

// connect opens the writing connection and catches up with what the database holds:
// a commit that failed may be there nevertheless.
func (w *writer) connect(ctx context.Context) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := w.copyWholeLog(ctx, connection); err != nil {
		return errors.Join(err, connection.Close())
	}
	if err := w.catchUp(ctx, connection); err != nil {
		return errors.Join(err, connection.Close())
	}
	w.connection = connection
	w.claim.note()
	return nil
}

// copyWholeLog puts what a killed process has committed on the disk: nobody knows
// whether it was. After a failure for want of room it frees the room of the log.
func (w *writer) copyWholeLog(ctx context.Context, c *sql.Conn) error {
	done, err := copyLog(ctx, c, "TRUNCATE")
	if err == nil && !done {
		err = errBusyLog
	}
	w.written = 0
	return err
}

func (w *writer) catchUp(ctx context.Context, c *sql.Conn) (err error) {
	j := w.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.ids)
	if w.stored, w.unstored, err = loadIDs(ctx, c, j.ids, w.stored); err != nil {
		return err
	}
	oldest, latest, err := loadEnds(ctx, c, int64(len(j.ids)))
	if err != nil {
		return err
	}
	j.oldest, w.latest = oldest, max(latest, w.latest)
	if len(j.ids) > before {
		j.wake()
	}
	return nil
}

var errBusyLog = errors.New("the log cannot be copied into the database while another program reads it")

// copyLog copies the log into the database. It waits for readers in its way for
// as long as the connection's busy_timeout says.
func copyLog(ctx context.Context, c *sql.Conn, mode string) (done bool, err error) {
	var busy, pages, copied int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return err == nil && busy == 0, err
}

// shortenLog copies the log when it is long, after a commit and its answers; the next
// transaction begins it anew. While a reader stays in the way, the log grows.
func (w *writer) shortenLog(written int) {
	const overhead = 3 * pageSize // what any transaction writes
	if w.written += written + overhead; w.written < w.longestLog {
		return
	}
	w.written = 0
	_, _ = copyLog(context.Background(), w.connection, "RESTART") // a disk that fails shows in the next commit
}

// transact makes one transaction of works and answers once it is durable. After an
// error the connection is given up: the next transaction begins on a new one.
func (w *writer) transact(works *groupcommit.Batch[work]) {
	changes, err := w.gather(works)
	if err == nil && changes != nil {
		err = w.commit(changes)
	}
	if err != nil {
		w.giveUp(err)
		err = fmt.Errorf("write the journal: %w", err)
	}
	works.Answer(err)
	if err == nil && changes != nil {
		w.shortenLog(changes.size())
	}
	w.claim.note()
}

// giveUp ends a transaction that has failed, and its connection. What has become
// another's is left alone for good. A database that was moved gets what is in the
// log, so that it is whole wherever it is.
func (w *writer) giveUp(err error) {
	switch {
	case errors.Is(err, journal.ErrDisowned):
		w.disowned = err
	case errors.Is(err, errMoved) && w.connection != nil:
		_, _ = w.connection.ExecContext(context.Background(), "ROLLBACK")
		_, _ = copyLog(context.Background(), w.connection, "TRUNCATE")
	}
	w.disconnect()
}

// gather applies works. The first one begins the transaction.
func (w *writer) gather(works *groupcommit.Batch[work]) (changes *batch, err error) {
	defer journal.Recovered(&err)
	for changes == nil || changes.size() < maxBatch {
		apply, ok := works.Next()
		if !ok {
			break
		}
		if changes == nil {
			if changes, err = w.beginTransaction(); err != nil {
				return nil, err
			}
		}
		if err := apply(changes); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

func (w *writer) beginTransaction() (*batch, error) {
	ctx := context.Background()
	if w.disowned != nil {
		return nil, w.disowned
	}
	if err := w.claim.inPlace(); err != nil {
		return nil, err
	}
	if err := w.claim.untouched(); err != nil {
		return nil, err
	}
	if w.connection == nil {
		if err := w.connect(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := w.connection.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	return newBatch(ctx, w), w.checkOwner(ctx)
}

// checkOwner reports, within a transaction, whether the journal is still as this
// process has left it.
func (w *writer) checkOwner(ctx context.Context) error {
	var owner string
	var newest int64
	row := w.connection.QueryRowContext(ctx, "SELECT owner, ifnull((SELECT max(last) FROM packs), 0) FROM journal")
	if err := row.Scan(&owner, &newest); err != nil {
		return err
	}
	switch head := w.journal.newest(); {
	case owner != w.owner:
		return journal.ErrDisowned
	case newest != 0 && newest != head:
		return fmt.Errorf("%w: its newest event is %d where %d was written", journal.ErrDisowned, newest, head)
	}
	return nil
}

// commit waits for the disk and makes known what was committed.
func (w *writer) commit(changes *batch) (err error) {
	defer journal.Recovered(&err)
	if err := changes.finish(); err != nil {
		return err
	}
	if _, err := w.connection.ExecContext(changes.ctx, "COMMIT"); err != nil {
		return err
	}
	w.stored, w.unstored, w.latest, w.buffer = changes.stored, changes.unstored, changes.latest, changes.pack.data
	if err := w.claim.inPlace(); err != nil {
		return err
	}
	w.journal.published(changes)
	return nil
}

// disconnect rolls back and closes the connection. Its errors say nothing new.
func (w *writer) disconnect() {
	if w.connection == nil {
		return
	}
	_, _ = w.connection.ExecContext(context.Background(), "ROLLBACK")
	_ = w.connection.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes such a one
	_ = w.connection.Close()
	w.connection = nil
}

// close closes the database after the goroutine has ended.
func (w *writer) close() error {
	w.disconnect()
	return w.db.Close()
}
