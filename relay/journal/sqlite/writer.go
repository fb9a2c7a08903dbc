package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// maxBatch bounds the jobs of one commit, and how many may queue.
const maxBatch = 1024

// Senders who waited for one commit come back together: a short pause after a
// busy batch lets the next one be as full, which takes 14 % off an event with 64
// senders.
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
}

// openWriter opens the database, prepares its schema and loads the ids.
func openWriter(ctx context.Context, dir string, j *Journal) (*writer, error) {
	db, err := openDatabase(dir, databaseName,
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)")
	if err != nil {
		return nil, err
	}
	w := &writer{
		journal: j,
		db:      db,
		jobs:    make(chan *job, maxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
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
	if err := w.catchUp(ctx, connection); err != nil {
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

// run commits until the journal is closed. What has queued by then is refused.
func (w *writer) run() {
	defer close(w.stopped)
	tasks := make([]*job, 0, maxBatch)
	before := 0 // jobs of the last commit
	for {
		select {
		case <-w.closing:
			return
		case first := <-w.jobs:
			tasks = w.gather(append(tasks[:0], first))
		}
		if before >= busyBatch && len(tasks) < before {
			time.Sleep(gatherPause)
			tasks = w.gather(tasks)
		}
		before = len(tasks)
		w.commit(tasks)
		clear(tasks)
	}
}

// gather takes everything that has queued.
func (w *writer) gather(tasks []*job) []*job {
	for len(tasks) < maxBatch {
		select {
		case task := <-w.jobs:
			tasks = append(tasks, task)
		default:
			return tasks
		}
	}
	return tasks
}

func (w *writer) commit(tasks []*job) {
	waiting := tasks[:0]
	for _, task := range tasks {
		if err := task.ctx.Err(); err != nil {
			task.done <- err
			continue
		}
		waiting = append(waiting, task)
	}
	if len(waiting) == 0 {
		return
	}
	err := w.transact(waiting)
	for _, task := range waiting {
		task.done <- err
	}
}

// transact runs the tasks in one transaction. After an error the connection is
// given up: the next transaction begins on a new one.
func (w *writer) transact(tasks []*job) (err error) {
	ctx := context.Background()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic while writing: %v", panicked)
		}
		if err != nil {
			err = fmt.Errorf("write the journal: %w", err)
			w.disconnect()
		}
	}()
	if w.connection == nil {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	if _, err := w.statements.begin.ExecContext(ctx); err != nil {
		return err
	}
	changes := newBatch(ctx, w)
	for _, task := range tasks {
		if err := task.apply(changes); err != nil {
			return err
		}
	}
	if err := changes.finish(); err != nil {
		return err
	}
	if _, err := w.statements.commit.ExecContext(ctx); err != nil {
		return err
	}
	w.stored = changes.stored
	w.journal.mark.write(w.journal.epoch, changes.head())
	w.journal.published(changes.fresh)
	if changes.oldest > 0 {
		w.journal.forgotten(changes.oldest)
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
