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

// Senders who waited for one commit come back together: a short pause after a
// busy batch lets the next one be as full.
const (
	busyBatch   = 16
	gatherPause = 200 * time.Microsecond
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
	b := newBatch()
	waiting := tasks[:0]
	for _, task := range tasks {
		if err := task.ctx.Err(); err != nil {
			task.done <- outcome{err: err}
			continue
		}
		waiting = append(waiting, task)
		b.add(task.entries)
	}
	if len(waiting) == 0 {
		return
	}
	err := w.transact(b)
	for _, task := range waiting {
		if err != nil {
			task.done <- outcome{err: err}
			continue
		}
		n := len(task.entries)
		task.done <- outcome{results: b.results[:n:n]}
		b.results = b.results[n:]
	}
}

// transact stores b in one transaction. After an error the connection is given
// up: the next transaction begins on a new one.
func (w *writer) transact(b *batch) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), transactTimeout)
	defer cancel()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
		if err != nil {
			err = fmt.Errorf("write the journal: %w", oneLine{err})
			w.disconnect()
		}
	}()
	known := w.journal.current()
	if err := w.begin(ctx, b); err != nil {
		return err
	}
	if b.state.epoch != known.epoch || b.state.head < known.head {
		return errWentBack
	}
	b.number()
	if err := b.finish(ctx, w.connection); err != nil {
		return err
	}
	w.journal.publish(b.state.epoch, b.head())
	return nil
}

// begin begins a transaction. A connection that was idle may have died since:
// as nothing was written, a new one may try again.
func (w *writer) begin(ctx context.Context, b *batch) error {
	if w.connection != nil {
		err := b.begin(ctx, w.connection)
		if err == nil || ctx.Err() != nil {
			return err
		}
		w.disconnect()
	}
	select {
	case <-time.After(time.Until(w.failed.Add(reconnectPause))):
	case <-w.closing:
		return journal.ErrClosed
	}
	connection, err := connect(ctx, w.config)
	if err != nil {
		w.failed = time.Now()
		return err
	}
	w.connection = connection
	return b.begin(ctx, w.connection)
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
