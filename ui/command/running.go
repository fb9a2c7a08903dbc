package command

import (
	"context"
	"errors"
	"sync"
	"time"
)

// background runs something until ctx ends or stop is called, which waits for it.
func background(ctx context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var task sync.WaitGroup
	task.Go(func() { run(ctx) })
	return func() {
		cancel()
		task.Wait()
	}
}

// unlessInterrupted runs a read that may never end, as of a pipe to which nobody writes.
// If ctx ends first, the read is left behind for the end of the process.
func unlessInterrupted[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// leaveWithin is how long a command that is to end waits for a reader that has stopped
// reading.
const leaveWithin = 700 * time.Millisecond

var errStuck = errors.New("nobody reads the output")

// unlessStuck runs what prints. If that has not ended within leaveWithin of ctx's end, it
// is left behind for the end of the process, and the error is errStuck.
func unlessStuck(ctx context.Context, print func() error) error {
	done := make(chan error, 1)
	go func() { done <- print() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(leaveWithin):
		return errStuck
	}
}
