package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

// work is something to do in the next transaction.
type work = func(*batch) error

// writer owns the one connection that writes.
type writer struct {
	*groupcommit.Queue[work]
	journal *Journal
	claim   *claim
	db      *sql.DB
	flush   func(*os.File) error // waits for the disk
	owner   string               // names this process in the database
	fit     func() int           // the size of the log that fits the room on the disk

	// Of the goroutine that runs the writer:
	connection *sql.Conn
	statements statements
	stored     int64            // ids up to here are in id_digests
	latest     int64            // time of receipt of all events
	doubtful   bool             // what was committed may not be durable
	failed     bool             // the last transaction did
	longest    int64            // the log may be, while a reader is in the way
	written    int              // since the log was copied
	logSize    int              // that much is written, the log is copied
	disowned   error            // why nothing may be written any more
	buffer     []byte           // of packs, for the next one
	fresh      []digest         // of a transaction, for the next one
	numbers    map[digest]int64 // of the ids of a transaction, for the next one
}

// openWriter opens the database, prepares its schema and loads the ids. Commits
// only write the log (synchronous=NORMAL): the writer syncs it itself before
// anybody is told, which spares the disk what is no data. Checkpoints sync by
// themselves.
func openWriter(ctx context.Context, in folder, j *Journal) (*writer, error) {
	db, err := in.database(j.claim,
		"busy_timeout(250)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8192)",
		"wal_autocheckpoint(0)")
	if err != nil {
		return nil, err
	}
	w := &writer{
		Queue:   groupcommit.New[work](),
		journal: j,
		claim:   j.claim,
		db:      db,
		flush:   syncData,
		owner:   newEpoch(),
		fit:     func() int { return logFor(roomIn(in.path)) },
		numbers: map[digest]int64{},
		// What a killed process has committed may not be durable yet.
		doubtful: true,
	}
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
	if err == nil { // durable with the rest, by settle
		_, err = connection.ExecContext(ctx, "UPDATE journal SET owner = ?", w.owner)
	}
	if err := errors.Join(err, connection.Close()); err != nil {
		return err
	}
	w.journal.epoch = epoch
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.compareMark(ctx)
}

// compareMark gives a database that has lost acknowledged events another epoch:
// their sequence numbers will be given to others.
func (w *writer) compareMark(ctx context.Context) error {
	j := w.journal
	j.lostFrom, j.lostTo = j.head+1, j.mark.read(j.epoch)
	if j.lostTo < j.lostFrom {
		return nil
	}
	epoch := newEpoch()
	if _, err := w.connection.ExecContext(ctx, "UPDATE journal SET epoch = ?", epoch); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	w.claim.note()
	j.epoch = epoch
	j.mark.write(epoch, j.head)
	return nil
}

// connect prepares the writing connection and catches up with what the database
// holds: a commit that failed may be there nevertheless.
func (w *writer) connect(ctx context.Context) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	err = w.settle(ctx, connection)
	if err == nil {
		err = w.fitLog(ctx, connection)
	}
	if err == nil {
		err = w.claim.log.open(0)
	}
	if err == nil {
		err = w.catchUp(ctx, connection)
	}
	if err != nil {
		return errors.Join(err, connection.Close())
	}
	statements, err := prepareStatements(ctx, connection)
	if err != nil {
		statements.close()
		return errors.Join(err, connection.Close())
	}
	w.connection, w.statements = connection, statements
	w.claim.note()
	return nil
}

// settle copies everything from the log into the database and syncs that, after a
// sync of the log has failed: it would not be tried again for the same bytes.
func (w *writer) settle(ctx context.Context, connection *sql.Conn) error {
	if !w.doubtful {
		return nil
	}
	done, err := copyLog(ctx, connection, "TRUNCATE")
	if err != nil {
		return err
	}
	if !done {
		return errors.New("what was written before a failed sync cannot be copied now")
	}
	w.doubtful = false
	return nil
}

func (w *writer) catchUp(ctx context.Context, connection *sql.Conn) error {
	j := w.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	stored, err := loadIdentities(ctx, connection, j.ids, w.stored)
	if err != nil {
		return err
	}
	oldest, latest, err := loadEnds(ctx, connection, j.ids.count)
	if err != nil {
		return err
	}
	w.stored, w.latest, j.oldest = stored, max(latest, w.latest), oldest
	if j.head != j.ids.count {
		j.head = j.ids.count
		close(j.moved)
		j.moved = make(chan struct{})
	}
	return nil
}

// do runs apply in the next transaction and returns after its commit.
func (w *writer) do(ctx context.Context, apply work) error { return w.Do(ctx, apply) }

// transact makes one transaction of works, waits until it is durable and
// answers. After an error the connection is given up: the next transaction
// begins on a new one.
func (w *writer) transact(works *groupcommit.Batch[work]) {
	changes, err := w.gather(works)
	if err == nil && changes != nil {
		err = w.commit(changes)
	}
	if err != nil {
		w.giveUp(err)
		err = fmt.Errorf("write the journal: %w", err)
	}
	w.failed = err != nil
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
	defer recovered(&err)
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
	if err := w.boundLog(ctx); err != nil {
		return nil, err
	}
	if _, err := w.statements.begin.ExecContext(ctx); err != nil {
		return nil, err
	}
	return newBatch(ctx, w), w.checkOwner(ctx)
}

// checkOwner reports, within a transaction, whether the journal is still as this
// process has left it.
func (w *writer) checkOwner(ctx context.Context) error {
	var owner string
	var newest int64
	if err := w.statements.owner.QueryRowContext(ctx).Scan(&owner, &newest); err != nil {
		return err
	}
	switch head := w.journal.ids.count; {
	case owner != w.owner:
		return journal.ErrDisowned
	case newest != 0 && newest != head:
		return fmt.Errorf("%w: its newest event is %d where %d was written", journal.ErrDisowned, newest, head)
	}
	return nil
}

// sync returns after everything that was written into the log is durable.
func (w *writer) sync() error { return w.flush(w.claim.log.file) }

// commit writes the log, waits for the disk and makes known what was committed.
func (w *writer) commit(changes *batch) (err error) {
	defer recovered(&err)
	if err := changes.finish(); err != nil {
		return err
	}
	if _, err := w.statements.commit.ExecContext(changes.ctx); err != nil {
		return err
	}
	w.stored, w.latest, w.buffer, w.fresh = changes.stored, changes.latest, changes.pack.data, changes.fresh
	head := w.journal.remember(changes.fresh)
	w.doubtful = true
	if err := w.sync(); err != nil {
		return fmt.Errorf("sync the log: %w", err)
	}
	w.doubtful = false
	if err := w.claim.inPlace(); err != nil {
		return err
	}
	w.journal.published(changes, head)
	return nil
}

func recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic while writing: %v", panicked)
	}
}

// disconnect rolls back and closes the connection. Its errors say nothing new.
func (w *writer) disconnect() {
	if w.connection == nil {
		return
	}
	_, _ = w.connection.ExecContext(context.Background(), "ROLLBACK")
	w.statements.close()
	_ = w.connection.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes such a one
	_ = w.connection.Close()
	w.connection = nil
}

// close closes the database after the goroutine has ended.
func (w *writer) close() error {
	w.disconnect()
	return w.db.Close()
}
