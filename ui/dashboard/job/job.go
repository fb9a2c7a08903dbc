// Package job is the program as a job of its shell: it is suspended and continued, reads
// the keyboard, and follows the size of the terminal.
package job

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/canvas"
)

// Job suspends the program by a key and resumes it when fg continues it. Bubble Tea can
// suspend as well, but it waits for ever if the program is not stopped, and half a second
// for a reader of keys that it does not have here.
type Job struct {
	ctx       context.Context
	Keys      *Keyboard
	NoShell   bool          // no shell could continue the program
	waits     atomic.Bool   // somebody waits for continued
	continued chan struct{} // room for one
}

// New returns the job of a program that ends with ctx.
func New(ctx context.Context) *Job {
	return &Job{ctx: ctx, Keys: &Keyboard{}, continued: make(chan struct{}, 1)}
}

// ResumedMsg says that the program has its terminal back. Err says why it was not
// stopped; nil if it was.
type ResumedMsg struct{ Err error }

// ContinuedMsg says that the program was stopped and continued without the key.
type ContinuedMsg struct{}

// errNotStopped says that the system did not stop the program: there is no shell that
// could continue it.
var errNotStopped = errors.New("there is no shell here to bring tillwatch back")

const (
	// stopsWithin is how long the system may take to stop the program.
	stopsWithin = 500 * time.Millisecond
	// heardWithin is how long a signal may take to arrive.
	heardWithin = 200 * time.Millisecond
	// lookAgain is how often a program in the background checks whether it still is.
	lookAgain = 100 * time.Millisecond
)

// wake notes that the program was continued. It returns false if nobody waits for that.
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

// awaitContinued returns once the program has been continued; false if nothing stopped
// it.
func (j *Job) awaitContinued() bool {
	asked := time.Now()
	for _, patience := range []time.Duration{stopsWithin, heardWithin} { // the first also passes while the program is stopped
		select {
		case <-j.continued:
			return true
		case <-time.After(patience):
		}
	}
	return time.Since(asked) > 3*(stopsWithin+heardWithin)
}

// Disabled says why the program cannot be suspended, "" if it can. confirming is true
// while a confirm is running.
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

// LentMsg carries what is to run while the program does not have the terminal.
type LentMsg struct {
	keys *Keyboard
	run  func() error
	over func(error) tea.Msg
}

// Lend gives the keyboard away and then makes the program's loop call run, and stand
// still meanwhile. over makes the message for its end.
func (j *Job) Lend(run func() error, over func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg { // beside the loop, which still handles what was typed
		_ = j.Keys.Give() // the end of the program reports its error again
		return LentMsg{j.Keys, run, over}
	}
}

// Run calls run and takes the keyboard back.
func (m LentMsg) Run() tea.Cmd {
	err := errors.Join(m.run(), m.keys.Take())
	return func() tea.Msg { return m.over(err) }
}

// Leave gives the terminal back, stops the program until it is continued, and takes the
// terminal again once the program is in the foreground. over is true if the program was
// stopped and continued already. If the program is to end before that, its loop stands
// still for good: it must not touch the terminal.
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
			select {} // the caller of the loop abandons it
		case <-time.After(lookAgain):
		}
	}
	if !stopped {
		return errNotStopped
	}
	return nil
}
