package command

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// interrupts end this process, except while another program has the terminal and gets
// them alone.
type interrupts struct{ suspended atomic.Int32 }

type interruptsKey struct{}

// sameInterrupt is the time within which several signals count as one interrupt:
// timeout(1) and shells signal both a process and its group.
const sameInterrupt = 250 * time.Millisecond

// interruptible returns a context that ends at the first interrupt. The next one ends
// the process at once.
func interruptible(ctx context.Context) context.Context {
	i := &interrupts{}
	ctx, end := context.WithCancel(context.WithValue(ctx, interruptsKey{}, i))
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() { // runs as long as the process
		for s := range heard {
			if s != os.Interrupt || i.suspended.Load() == 0 {
				end()
				time.Sleep(sameInterrupt)
				signal.Stop(heard)
				return
			}
		}
	}()
	return ctx
}

// interruptSuspender returns a function that leaves the terminal's interrupts to another
// program until resume is called.
func interruptSuspender(ctx context.Context) func() (resume func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok {
		return nil
	}
	return func() func() {
		i.suspended.Add(1)
		return func() { i.suspended.Add(-1) }
	}
}

// untilHangup returns a context that ends when the terminal goes away, so that the command
// ends in order, as after a quit. Under nohup it changes nothing.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// surviveReaders keeps the process alive if whoever reads its output leaves: what is sent from now on needs its line
// in the audit log, and its exit code.
func surviveReaders() { signal.Ignore(syscall.SIGPIPE) }

// inTerminal reports whether this process ends with a terminal. A process without a
// controlling terminal, or under nohup, does not.
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
