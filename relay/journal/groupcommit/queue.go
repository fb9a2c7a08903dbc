// Package groupcommit lets callers share commits: one goroutine takes what has
// queued while it committed last, and commits that at once.
package groupcommit

import (
	"context"
	"sync"

	"tillwatch/relay/journal"
)

// MaxBatch bounds the works of one commit.
const MaxBatch = 1024

// Queue brings works of type W from callers to a committer. Make one with [New].
type Queue[W any] struct {
	works   chan task[W]
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
		works:   make(chan task[W], MaxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// Do brings work into a batch and returns the error of its commit. When ctx ends
// first, the work may still be committed. After [Queue.Stop] it returns
// [journal.ErrClosed].
func (q *Queue[W]) Do(ctx context.Context, work W) error {
	t := task[W]{ctx: ctx, work: work, done: make(chan error, 1)}
	select {
	case <-q.closing:
		return journal.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case q.works <- t:
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-q.stopped:
	}
	select {
	case err := <-t.done: // it was in the last batch
		return err
	default:
		return journal.ErrClosed
	}
}

// Run gives commit one batch after another until [Queue.Stop].
func (q *Queue[W]) Run(commit func(*Batch[W])) {
	defer close(q.stopped)
	for {
		select {
		case <-q.closing: // before what has queued as well
			return
		default:
		}
		select {
		case <-q.closing:
			return
		case first := <-q.works:
			commit(&Batch[W]{queue: q, first: &first})
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
	queue *Queue[W]
	first *task[W] // nil once it was taken
	tasks []task[W]
}

// Next adds a work that has queued to the batch and returns it, unless there is
// none. It leaves out works that nobody waits for any more.
func (b *Batch[W]) Next() (work W, ok bool) {
	for len(b.tasks) < MaxBatch {
		next := b.first
		b.first = nil
		if next == nil {
			select {
			case queued := <-b.queue.works:
				next = &queued
			default:
				return work, false
			}
		}
		if err := next.ctx.Err(); err != nil {
			next.done <- err
			continue
		}
		b.tasks = append(b.tasks, *next)
		return next.work, true
	}
	return work, false
}

// Answer tells everybody in the batch. It is called once a batch.
func (b *Batch[W]) Answer(err error) {
	for _, t := range b.tasks {
		t.done <- err
	}
}
