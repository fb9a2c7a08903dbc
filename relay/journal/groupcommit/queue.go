// Package groupcommit lets callers share commits: one goroutine takes what has
// queued while it committed last, and commits that at once.
package groupcommit

import (
	"context"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// MaxBatch bounds the works of one commit, and how many may queue.
const MaxBatch = 1024

// Callers who waited for one commit come back together: a short pause after a
// busy batch lets the next one be as full.
const (
	busyBatch   = 16
	gatherPause = 200 * time.Microsecond
)

// Queue brings works of type W from callers to a committer. Make one with [New].
type Queue[W any] struct {
	tasks   chan task[W]
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
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
		tasks:   make(chan task[W], MaxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// Do brings work into a batch and returns what that was answered. When ctx ends
// first, the work may still be committed. After [Queue.Stop] it returns
// [journal.ErrClosed].
func (q *Queue[W]) Do(ctx context.Context, work W) error {
	t := task[W]{ctx: ctx, work: work, done: make(chan error, 1)}
	select {
	case <-q.closing:
		return journal.ErrClosed
	default:
	}
	select {
	case q.tasks <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closing:
		return journal.ErrClosed
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-q.stopped:
	}
	select {
	case err := <-t.done:
		return err
	default:
		return journal.ErrClosed
	}
}

// Run gives commit one batch after another until [Queue.Stop]. What has queued
// by then is refused.
func (q *Queue[W]) Run(commit func(*Batch[W])) {
	defer close(q.stopped)
	b := Batch[W]{queue: q}
	for {
		select {
		case <-q.closing: // what has queued as well comes second
			return
		default:
		}
		select {
		case <-q.closing:
			return
		case first := <-q.tasks:
			b.begin(first)
			commit(&b)
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
		close(q.closing)
	})
	<-q.stopped
	return first
}

// Batch is what goes into one commit.
type Batch[W any] struct {
	queue  *Queue[W]
	first  task[W]
	begun  bool // the first was taken
	tasks  []task[W]
	before int // tasks of the last batch
	paused bool
}

func (b *Batch[W]) begin(first task[W]) {
	b.before = len(b.tasks)
	clear(b.tasks)
	b.first, b.begun, b.tasks, b.paused = first, false, b.tasks[:0], false
}

// Next adds a work that has queued to the batch and returns it, unless there is
// none. Works that nobody waits for any more are left out.
func (b *Batch[W]) Next() (work W, ok bool) {
	for {
		next, ok := b.take()
		if !ok {
			return work, false
		}
		if err := next.ctx.Err(); err != nil {
			next.done <- err
			continue
		}
		b.tasks = append(b.tasks, next)
		return next.work, true
	}
}

func (b *Batch[W]) take() (next task[W], ok bool) {
	if !b.begun {
		b.begun = true
		return b.first, true
	}
	if len(b.tasks) >= MaxBatch {
		return next, false
	}
	select {
	case next := <-b.queue.tasks:
		return next, true
	default:
	}
	if b.paused || b.before < busyBatch || len(b.tasks) >= b.before {
		return next, false
	}
	b.paused = true
	time.Sleep(gatherPause)
	return b.take()
}

// Len is the number of works in the batch.
func (b *Batch[W]) Len() int { return len(b.tasks) }

// Answer tells everybody in the batch. It is called once a batch.
func (b *Batch[W]) Answer(err error) {
	for _, t := range b.tasks {
		t.done <- err
	}
}
