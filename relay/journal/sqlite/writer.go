package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// maxBatch bounds the jobs of one commit, and how many may queue.
const maxBatch = 1024

// Senders who waited for one commit come back together: a short pause after a
// busy batch lets the next one be as full.
const (
	busyBatch   = 16
	gatherPause = 200 * time.Microsecond
)

// job is something to do in the next transaction.
type job struct {
	ctx   context.Context
	apply func(*batch) error
	done  chan error // buffered: the writer never waits for who asked
}

// writer owns the one connection that writes.
type writer struct {
	journal *Journal
	db      *sql.DB
	jobs    chan *job
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once

	// Of the goroutine that runs the writer:
	connection *sql.Conn
	statements statements
	stored     int64 // ids up to here are in id_digests
	before     int   // jobs of the last transaction
	doubtful   bool  // what was committed may not be durable
	log        walFile
}

// openWriter opens the database, prepares its schema and loads the ids. Commits
// only write the log (synchronous=NORMAL): the writer syncs it itself before
// anybody is told, which spares the disk what is no data. Checkpoints sync by
// themselves.
func openWriter(ctx context.Context, dir string, j *Journal) (*writer, error) {
	db, err := openDatabase(dir, databaseName,
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8192)")
	if err != nil {
		return nil, err
	}
	w := &writer{
		journal: j,
		db:      db,
		log:     walFile{path: filepath.Join(dir, databaseName+"-wal"), flush: syncData},
		jobs:    make(chan *job, maxBatch),
		// What a killed process has committed may not be durable yet.
		doubtful: true,
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
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
		err = w.log.open()
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
	return nil
}

// settle copies everything from the log into the database and syncs that, after a
// sync of the log has failed: it would not be tried again for the same bytes.
func (w *writer) settle(ctx context.Context, connection *sql.Conn) error {
	if !w.doubtful {
		return nil
	}
	var busy, frames, copied int
	if err := connection.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied); err != nil {
		return err
	}
	if busy != 0 {
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
	var oldest sql.NullInt64
	if err := connection.QueryRowContext(ctx, "SELECT min(seq) FROM events").Scan(&oldest); err != nil {
		return err
	}
	w.stored = stored
	j.oldest = j.ids.count + 1
	if oldest.Valid {
		j.oldest = oldest.Int64
	}
	if j.head != j.ids.count {
		j.head = j.ids.count
		close(j.moved)
		j.moved = make(chan struct{})
	}
	return nil
}

// do runs apply in the next transaction and returns after its commit.
func (w *writer) do(ctx context.Context, apply func(*batch) error) error {
	task := &job{ctx: ctx, apply: apply, done: make(chan error, 1)}
	select {
	case <-w.closing:
		return journal.ErrClosed
	default:
	}
	select {
	case w.jobs <- task:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closing:
		return journal.ErrClosed
	}
	select {
	case err := <-task.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
	}
	select {
	case err := <-task.done:
		return err
	default:
		return journal.ErrClosed
	}
}

// run makes transactions until the journal is closed. What has queued by then is
// refused.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case <-w.closing:
			return
		case first := <-w.jobs:
			w.transact(first)
		}
	}
}

// transact makes one transaction of first and of what else has queued, waits
// until it is durable and answers. After an error the connection is given up:
// the next transaction begins on a new one.
func (w *writer) transact(first *job) {
	t := &transaction{writer: w}
	err := t.add(first)
	if err == nil {
		err = w.gather(t)
	}
	if err == nil && len(t.jobs) < w.before && w.before >= busyBatch {
		time.Sleep(gatherPause)
		err = w.gather(t)
	}
	w.before = len(t.jobs)
	if err == nil && len(t.jobs) > 0 {
		if err = t.commit(); err == nil {
			err = t.makeDurable()
			w.doubtful = err != nil
		}
	}
	if err != nil {
		w.disconnect()
	}
	t.answer(err)
}

// gather adds everything that has queued.
func (w *writer) gather(t *transaction) error {
	for len(t.jobs) < maxBatch {
		select {
		case next := <-w.jobs:
			if err := t.add(next); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
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
	_ = w.log.close()
}

// stop ends the goroutine and waits for it. It returns false when that was done
// before.
func (w *writer) stop() (first bool) {
	w.once.Do(func() {
		first = true
		close(w.closing)
	})
	<-w.stopped
	return first
}

// close closes the database after the goroutine has ended.
func (w *writer) close() error {
	w.disconnect()
	return w.db.Close()
}
