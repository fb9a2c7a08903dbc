// Package groupcommit lets callers share commits: one goroutine takes what has
// queued while it committed last, and commits that at once.
package groupcommit

import (
	"context"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// MaxBatch bounds the works of one commit.
const MaxBatch = 1024

// Callers who waited for one commit come back together: a short pause lets the
// next batch be as full as those of late. After a small one the queue goes on to
// pause for a while: whatever keeps a processor for milliseconds keeps the callers
// that queue for it, too, and one that runs on another could commit alone, again
// and again, all that time. In a pause that other processor runs dry, and fetches
// them.
const (
	busyBatch   = 16
	gatherPause = 200 * time.Microsecond
)

// Queue brings works of type W from callers to a committer. Make one with [New].
type Queue[W any] struct {
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	queued  chan struct{} // of one: there may be works
	answers sync.Pool     // of chan error, empty

	mu     sync.Mutex
	closed bool
	tasks  []task[W]
}

// task is a work and who waits for it.
type task[W any] struct {
	ctx  context.Context
	work W
	done chan error // buffered: the committer never waits for who asked
}

// New makes a queue for works that wait for [Queue.Run].
func New[W any]() *Queue[W] {
	return &Queue[W]{
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		queued:  make(chan struct{}, 1),
		answers: sync.Pool{New: func() any { return make(chan error, 1) }},
	}
}

// Do brings work into a batch and returns what that was answered. When ctx ends
// first, the work may still be committed. After [Queue.Stop] it returns
// [journal.ErrClosed].
func (q *Queue[W]) Do(ctx context.Context, work W) error {
	done := q.answers.Get().(chan error)
	if !q.add(task[W]{ctx: ctx, work: work, done: done}) {
		return journal.ErrClosed
	}
	select {
	case err := <-done:
		q.answers.Put(done)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add queues a task, which will be answered, unless the queue is closed.
func (q *Queue[W]) add(t task[W]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.tasks = append(q.tasks, t)
	if len(q.tasks) == 1 {
		select {
		case q.queued <- struct{}{}:
		default:
		}
	}
	return true
}

// Run gives commit one batch after another until [Queue.Stop]. What has queued
// by then is refused.
func (q *Queue[W]) Run(commit func(*Batch[W])) {
	defer close(q.stopped)
	b := Batch[W]{queue: q}
	for b.await() {
		b.begin()
		commit(&b)
	}
	for {
		for _, t := range b.coming {
			t.done <- journal.ErrClosed
		}
		if !b.fetch() {
			return
		}
	}
}

// Closing is closed when [Queue.Stop] is called.
func (q *Queue[W]) Closing() <-chan struct{} { return q.closing }

// Stop ends Run after the batch that it is in, and waits for that. It returns
// false when that was done before.
func (q *Queue[W]) Stop() (first bool) {
	q.once.Do(func() {
		first = true
		q.mu.Lock()
		q.closed = true
		q.mu.Unlock()
		close(q.closing)
	})
	<-q.stopped
	return first
}

// Batch is what goes into one commit.
type Batch[W any] struct {
	queue   *Queue[W]
	fetched []task[W] // from the queue at once
	coming  []task[W] // those of them that are in no batch yet
	tasks   []task[W]
	usual   int // tasks of a batch of late
	paused  bool
}

// await returns once there are works, or false when the queue is closing.
func (b *Batch[W]) await() bool {
	for {
		select {
		case <-b.queue.closing: // what has queued as well comes second
			return false
		default:
		}
		if len(b.coming) > 0 || b.fetch() {
			return true
		}
		select {
		case <-b.queue.closing:
			return false
		case <-b.queue.queued:
		}
	}
}

// fetch takes what has queued. It returns false when that is nothing.
func (b *Batch[W]) fetch() bool {
	clear(b.fetched)
	q := b.queue
	q.mu.Lock()
	b.fetched, q.tasks = q.tasks, b.fetched[:0]
	q.mu.Unlock()
	b.coming = b.fetched
	return len(b.coming) > 0
}

func (b *Batch[W]) begin() {
	b.usual = max(len(b.tasks), b.usual*7/8)
	clear(b.tasks)
	b.tasks, b.paused = b.tasks[:0], false
}

// Next adds a work that has queued to the batch and returns it, unless there is
// none. Works that nobody waits for any more are left out.
func (b *Batch[W]) Next() (work W, ok bool) {
	for b.more() {
		next := b.coming[0]
		b.coming = b.coming[1:]
		if err := next.ctx.Err(); err != nil {
			next.done <- err
			continue
		}
		b.tasks = append(b.tasks, next)
		return next.work, true
	}
	return work, false
}

// more reports whether another work is to come into the batch.
func (b *Batch[W]) more() bool {
	switch {
	case len(b.tasks) >= MaxBatch:
		return false
	case len(b.coming) > 0 || b.fetch():
		return true
	case b.paused || b.usual < busyBatch || len(b.tasks) >= b.usual:
		return false
	}
	b.paused = true
	time.Sleep(gatherPause)
	return b.fetch()
}

// Len is the number of works in the batch.
func (b *Batch[W]) Len() int { return len(b.tasks) }

// Answer tells everybody in the batch. It is called once a batch.
func (b *Batch[W]) Answer(err error) {
	for _, t := range b.tasks {
		t.done <- err
	}
}
