// Package job is the program as its shell and its terminal see it: stopped and
// continued, and of a size.
package job

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/canvas"
)

// Job is the program as its shell sees it: stopped by a key and continued by fg.
// The library can suspend as well, but where nobody stops the program it waits for
// ever to be continued, and it waits half a second for a reader of keys that it has
// not.
type Job struct {
	ctx       context.Context
	Keys      *Keyboard
	NoShell   bool          // nobody could continue the program
	waits     atomic.Bool   // for continued
	continued chan struct{} // room for one
}

// New makes the job of a program that ends with ctx.
func New(ctx context.Context) *Job {
	return &Job{ctx: ctx, Keys: &Keyboard{}, continued: make(chan struct{}, 1)}
}

// ResumedMsg says that the program has its terminal back; Err is why it was not
// stopped, nil if it was.
type ResumedMsg struct{ Err error }

// ContinuedMsg says that the program was stopped by something else than the key.
type ContinuedMsg struct{}

// errNotStopped says that the system has not stopped the program: there is no
// shell above it that could continue it.
var errNotStopped = errors.New("there is no shell here to bring tillwatch back")

const (
	// stopsWithin is how long the system may take to stop a program that asked for it.
	stopsWithin = 500 * time.Millisecond
	// heardWithin is how long word of a signal may take.
	heardWithin = 200 * time.Millisecond
	// lookAgain is how often a program in the background looks whether it still is.
	lookAgain = 100 * time.Millisecond
)

// wake notes that the program was continued, and reports whether that was waited for.
func (j *Job) wake() bool {
	if !j.waits.Load() {
		return false
	}
	select {
	case j.continued <- struct{}{}:
	default:
	}
	return true
}

// awaitContinued returns once the program has been continued. Of one that nobody
// stops it returns false.
func (j *Job) awaitContinued() bool {
	asked := time.Now()
	for _, patience := range []time.Duration{stopsWithin, heardWithin} { // the first passes while it is stopped, too
		select {
		case <-j.continued:
			return true
		case <-time.After(patience):
		}
	}
	return time.Since(asked) > 3*(stopsWithin+heardWithin)
}

// Disabled says why the program cannot be suspended; confirming says that a
// confirm is under way.
func (j *Job) Disabled(confirming bool) string {
	switch {
	case !suspendPossible:
		return "this system cannot suspend a program: use another terminal"
	case j.NoShell:
		return errNotStopped.Error()
	case confirming:
		return "a confirm is running: suspend once its outcome is known"
	}
	return ""
}

// LentMsg brings what is to run while somebody else has the terminal.
type LentMsg struct {
	keys *Keyboard
	run  func() error
	over func(error) tea.Msg
}

// Lend gives the keyboard away and brings what run does next to the program's loop,
// which is to stand still meanwhile. over makes the message that tells of its end.
func (j *Job) Lend(run func() error, over func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg { // beside the loop, which takes what was typed until then
		_ = j.Keys.Give() // it tells of the error again when the program ends
		return LentMsg{j.Keys, run, over}
	}
}

// Run runs it, and takes the keyboard again.
func (m LentMsg) Run() tea.Cmd {
	err := errors.Join(m.run(), m.keys.Take())
	return func() tea.Msg { return m.over(err) }
}

// Leave gives the terminal back, stops the program until it is continued and takes
// the terminal again once it is in the foreground; over says that it was stopped and
// continued already. Where the program is to end before that, its loop stands still
// for good: the terminal is not to be touched.
func (j *Job) Leave(screen *canvas.Canvas, over bool) tea.Cmd {
	return j.Lend(func() error {
		err := screen.Leave()
		if !over {
			err = errors.Join(err, j.stop())
		}
		return errors.Join(err, screen.Enter())
	}, func(err error) tea.Msg { return ResumedMsg{err} })
}

func (j *Job) stop() error {
	j.waits.Store(true)
	defer j.waits.Store(false)
	if err := stopProcess(); err != nil {
		return err
	}
	stopped := j.awaitContinued()
	for !InForeground(j.Keys.in) { // bg continued it, or a signal that ends it
		stopped = true
		select {
		case <-j.ctx.Done():
			select {} // whoever runs the program leaves it behind
		case <-time.After(lookAgain):
		}
	}
	if !stopped {
		return errNotStopped
	}
	return nil
}
