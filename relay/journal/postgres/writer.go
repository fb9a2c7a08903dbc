package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	// maxBatch bounds the appends of one commit, and how many may queue.
	maxBatch = 1024
	// transactTimeout bounds one commit, the wait for other relays included.
	transactTimeout = 10 * time.Second
	// reconnectPause keeps a busy relay from hammering a server that is away.
	reconnectPause = 100 * time.Millisecond
)

var errWentBack = errors.New("the database has lost events that it had acknowledged: a new epoch is under way")

// job is an append that waits for the next transaction.
type job struct {
	ctx     context.Context
	entries []journal.Entry
	done    chan outcome // buffered: the writer never waits for who asked
}

type outcome struct {
	results []journal.Result
	err     error
}

// writer owns the one connection that appends.
type writer struct {
	journal *Journal
	config  *pgx.ConnConfig
	jobs    chan *job
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once

	// Of the goroutine that runs the writer:
	connection *pgx.Conn // nil after a failure
	failed     time.Time // the last attempt to connect that failed
}

func newWriter(j *Journal, config *pgx.ConnConfig, connection *pgx.Conn) *writer {
	return &writer{
		journal:    j,
		config:     config,
		jobs:       make(chan *job, maxBatch),
		closing:    make(chan struct{}),
		stopped:    make(chan struct{}),
		connection: connection,
	}
}

// Append stores entries in one transaction, with those of others.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	w := j.writer
	task := &job{ctx: ctx, entries: entries, done: make(chan outcome, 1)}
	select {
	case <-w.closing:
		return nil, journal.ErrClosed
	default:
	}
	select {
	case w.jobs <- task:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.closing:
		return nil, journal.ErrClosed
	}
	select {
	case o := <-task.done:
		return o.results, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.stopped:
	}
	select {
	case o := <-task.done:
		return o.results, o.err
	default:
		return nil, journal.ErrClosed
	}
}

// run commits until the journal is closed. What has queued by then is refused.
func (w *writer) run() {
	defer close(w.stopped)
	defer w.disconnect()
	tasks := make([]*job, 0, maxBatch)
	for {
		select {
		case <-w.closing:
			return
		case first := <-w.jobs:
			tasks = w.commit(append(tasks[:0], first))
			clear(tasks)
		}
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

// commit stores tasks and whatever else has queued by the time the lock is
// held, and answers them.
func (w *writer) commit(tasks []*job) []*job {
	ctx, cancel := context.WithTimeout(context.Background(), transactTimeout)
	defer cancel()
	before := w.journal.current()
	locked, err := w.lock(ctx)
	tasks = w.gather(tasks)
	b := newBatch(locked)
	waiting := tasks[:0]
	for _, task := range tasks {
		if err := task.ctx.Err(); err != nil {
			task.done <- outcome{err: err}
			continue
		}
		waiting = append(waiting, task)
		b.add(task.entries)
	}
	if err == nil {
		err = w.store(ctx, b, before)
	}
	if err != nil {
		err = fmt.Errorf("write the journal: %w", oneLine{err})
		w.disconnect()
	}
	for _, task := range waiting {
		if err != nil {
			task.done <- outcome{err: err}
			continue
		}
		n := len(task.entries)
		task.done <- outcome{results: b.results[:n:n]}
		b.results = b.results[n:]
	}
	return tasks
}

// lock begins a transaction and waits for its turn among the relays. A
// connection that was idle may have died since: as nothing was written, a new
// one may try again.
func (w *writer) lock(ctx context.Context) (locked state, err error) {
	defer recovered(&err)
	if w.connection != nil {
		locked, err := begin(ctx, w.connection)
		if err == nil || ctx.Err() != nil {
			return locked, err
		}
		w.disconnect()
	}
	select {
	case <-time.After(time.Until(w.failed.Add(reconnectPause))):
	case <-w.closing:
		return state{}, journal.ErrClosed
	}
	connection, err := connect(ctx, w.config)
	if err != nil {
		w.failed = time.Now()
		return state{}, err
	}
	w.connection = connection
	return begin(ctx, w.connection)
}

// store commits b. before is what was known when the lock was asked for: the
// database may not hold less.
func (w *writer) store(ctx context.Context, b *batch, before state) (err error) {
	defer recovered(&err)
	if b.state.epoch != before.epoch || b.state.head < before.head {
		return errWentBack
	}
	if err := b.store(ctx, w.connection); err != nil {
		return err
	}
	w.journal.publish(b.state.epoch, b.head())
	return nil
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic: %v", panicked)
	}
}

func (w *writer) disconnect() {
	if w.connection != nil {
		disconnect(w.connection)
		w.connection = nil
	}
}

// stop ends the goroutine and waits for it.
func (w *writer) stop() {
	w.once.Do(func() { close(w.closing) })
	<-w.stopped
}
