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
	// logSize is how many bytes are written before the log is copied into the
	// database. Copying needs room: a long log could fill the disk and leave none. Each
	// copy waits for the disk twice, so a shorter log would cost time.
	logSize = 2 << 20
	// maxBatch bounds the bytes that a transaction adds to the log; one larger event
	// may exceed it.
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
	unstored   []journal.Digest // the ids after them
	latest     int64            // the latest time of receipt of all events
	written    int              // bytes since the log was copied
	longestLog int              // once this many bytes are written, the log is copied
	owns       bool             // the database names this process as its owner
	disowned   error            // why nothing may be written any more
	buffer     []byte           // reused for the next pack
}

// openWriter opens the database, prepares its schema and loads the ids. A commit
// returns once it is on the disk (synchronous=FULL).
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
	if err := errors.Join(err, connection.Close()); err != nil {
		return err
	}
	w.journal.epoch = epoch
	full := w.connect(ctx)
	if noRoom(full) {
		err = w.look(ctx) // the next transaction connects
	} else {
		err = full
	}
	if err != nil {
		return err
	}
	return w.compareMark(ctx, full)
}

// look loads what a database holds that cannot be written for want of room.
func (w *writer) look(ctx context.Context) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	// What a killed process may have committed without a sync is synced before it is copied, which may fail.
	if _, err = copyLog(ctx, connection, "PASSIVE"); err == nil || noRoom(err) {
		err = w.catchUp(ctx, connection)
	}
	return errors.Join(err, connection.Close())
}

// compareMark begins a new epoch if the database has lost acknowledged events: other
// events will get their sequence numbers. On a full disk it cannot.
func (w *writer) compareMark(ctx context.Context, full error) error {
	j := w.journal
	head := j.newest()
	j.lostFrom, j.lostTo = head+1, j.mark.read()
	if j.lostTo < j.lostFrom {
		return nil
	}
	if full != nil {
		return full
	}
	epoch := journal.NewEpoch()
	if _, err := w.connection.ExecContext(ctx, "UPDATE journal SET epoch = ?", epoch); err != nil {
		return err
	}
	j.epoch = epoch
	j.mark.write(epoch, head)
	_ = j.mark.file.Sync() // otherwise a power cut could bring the old mark back
	w.claim.note()
	return nil
}

// connect opens the writing connection and loads what the database holds: a commit
// that reported an error may be there nevertheless.
func (w *writer) connect(ctx context.Context) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	err = w.own(ctx, connection)
	if err == nil {
		err = w.copyWholeLog(ctx, connection)
	}
	if err == nil {
		err = w.catchUp(ctx, connection)
	}
	if err != nil {
		return errors.Join(err, connection.Close())
	}
	w.connection = connection
	w.claim.note()
	return nil
}

// own names this process as the owner, once.
func (w *writer) own(ctx context.Context, c *sql.Conn) error {
	if w.owns {
		return nil
	}
	if _, err := c.ExecContext(ctx, "UPDATE journal SET owner = ?", w.owner); err != nil {
		return err
	}
	w.owns = true
	return w.claim.log.open(0)
}

// copyWholeLog syncs what a killed process may have committed without a sync. When
// the disk was full, it also frees the room of the log.
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

// copyLog copies the log into the database. It waits for readers up to the
// connection's busy_timeout; done is false if one was still in the way.
func copyLog(ctx context.Context, c *sql.Conn, mode string) (done bool, err error) {
	var busy, pages, copied int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return err == nil && busy == 0, err
}

// shortenLog copies the log once it is long; the next transaction begins it anew. It
// runs after the answers. While a reader is in the way, the log grows.
func (w *writer) shortenLog(written int) {
	const overhead = 3 * pageSize // written by every transaction
	if w.written += written + overhead; w.written < w.longestLog {
		return
	}
	w.written = 0
	_, _ = copyLog(context.Background(), w.connection, "RESTART") // the next commit reports a failing disk
	w.claim.note()
}

// transact commits works in one transaction and answers once it is durable. After an
// error it drops the connection; the next transaction opens a new one.
func (w *writer) transact(works *groupcommit.Batch[work]) {
	changes, err := w.gather(works)
	if err == nil && changes != nil {
		err = w.commit(changes)
	}
	if err != nil {
		w.giveUp(err)
		err = fmt.Errorf("write the journal: %w", w.journal.instructive(err))
	}
	w.claim.note() // before the answers: what another program writes after them is not this one's
	works.Answer(err)
	if err == nil && changes != nil {
		w.shortenLog(changes.size())
	}
}

// giveUp ends a failed transaction and its connection. Once another process owns the
// journal, this one never writes again. If the database was moved, giveUp copies the
// log into it: it must be whole at its new place.
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

// checkOwner returns an error if the journal is not as this process left it. It runs
// within a transaction.
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

// commit commits to the disk and publishes the changes.
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

// disconnect rolls back and closes the connection. Its errors add nothing.
func (w *writer) disconnect() {
	if w.connection == nil {
		return
	}
	_, _ = w.connection.ExecContext(context.Background(), "ROLLBACK")
	_ = w.connection.Raw(func(any) error { return driver.ErrBadConn }) // makes the pool close it
	_ = w.connection.Close()
	w.connection = nil
}

// close closes the database. The writer's goroutine must have ended.
func (w *writer) close() error {
	w.disconnect()
	return w.db.Close()
}
