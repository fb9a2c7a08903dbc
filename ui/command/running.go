package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
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

// unlessInterrupted runs a read that may never end, as of a pipe to which nobody writes. If ctx ends first, the read is
// left behind for the end of the process.
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

// leaveWithin is how long a command that is to end waits for a reader that has stopped reading.
const leaveWithin = 700 * time.Millisecond

var errStuck = errors.New("nobody reads the output")

// unlessStuck runs what prints. If that has not ended within leaveWithin of ctx's end, it is left behind for the end of
// the process, and the error is errStuck.
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

// sameInterrupt is the time within which several signals count as one interrupt: timeout(1) and shells signal both a
// process and its group.
const sameInterrupt = 250 * time.Millisecond

// suspendedKey is the key of a context's counter of programs that have the terminal and get its interrupts alone.
type suspendedKey struct{}

// interruptible returns a context that ends at the first interrupt. The next one ends the process at once.
func interruptible(ctx context.Context) context.Context {
	suspended := new(atomic.Int32)
	ctx, end := context.WithCancel(context.WithValue(ctx, suspendedKey{}, suspended))
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() { // runs as long as the process
		for s := range heard {
			if s != os.Interrupt || suspended.Load() == 0 {
				end()
				time.Sleep(sameInterrupt)
				signal.Stop(heard)
				return
			}
		}
	}()
	return ctx
}

// interruptSuspender returns a function that leaves the terminal's interrupts to another program until resume is called.
func interruptSuspender(ctx context.Context) func() (resume func()) {
	suspended, ok := ctx.Value(suspendedKey{}).(*atomic.Int32)
	if !ok {
		return nil
	}
	return func() func() {
		suspended.Add(1)
		return func() { suspended.Add(-1) }
	}
}

// untilHangup returns a context that ends when the terminal goes away, so that the command ends in order, as after a
// quit. Under nohup it changes nothing.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// surviveReaders keeps the process alive if whoever reads its output leaves: what is sent from now on needs its line
// in the audit log, and its exit code.
func surviveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) } // programs do not inherit it

// inTerminal reports whether this process ends with a terminal. A process without a controlling terminal, or under
// nohup, does not.
func inTerminal() bool {
	if signal.Ignored(syscall.SIGHUP) {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = terminal.Close()
	return true
}
