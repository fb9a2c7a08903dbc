// Package groupcommit lets callers share commits: one goroutine takes all work that
// queued during its last commit, and commits it together.
package groupcommit

import (
	"context"
	"sync"

	"tillwatch/relay/journal"
)

// MaxBatch is the most works in one commit.
const MaxBatch = 1024

// Queue carries works of type W from callers to one committer. Create it with [New].
type Queue[W any] struct {
	works   chan task[W]
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
}

// task is a work and its waiting caller.
type task[W any] struct {
	ctx  context.Context
	work W
	done chan error // buffered: the committer never waits for the caller
}

// New returns a queue whose works wait until [Queue.Run] commits them.
func New[W any]() *Queue[W] {
	return &Queue[W]{
		works:   make(chan task[W], MaxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// Do waits until work is committed and returns the error of that commit. If ctx ends
// first, the work may still be committed. After [Queue.Stop] Do returns
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

// Run calls commit with one batch after another until [Queue.Stop].
func (q *Queue[W]) Run(commit func(*Batch[W])) {
	defer close(q.stopped)
	for {
		select {
		case <-q.closing: // takes precedence over queued work
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

// Stop ends Run after its current batch and waits for it. first is false if Stop
// was called before.
func (q *Queue[W]) Stop() (first bool) {
	q.once.Do(func() {
		first = true
		close(q.closing)
	})
	<-q.stopped
	return first
}

// Batch is the work of one commit.
type Batch[W any] struct {
	queue *Queue[W]
	first *task[W] // nil once it was taken
	tasks []task[W]
}

// Next adds the next queued work to the batch and returns it; ok is false if none is
// queued or the batch is full. It skips works whose caller no longer waits.
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

// Answer sends err to every caller in the batch. Call it once for each batch.
func (b *Batch[W]) Answer(err error) {
	for _, t := range b.tasks {
		t.done <- err
	}
}
