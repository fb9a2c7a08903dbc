// Package job is the program as its shell and its terminal see it: stopped and
// continued, and of a size.
package job

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/canvas"
)

// Job is the program as its shell sees it: stopped by a key and continued by fg.
// The library can suspend as well, but where nobody stops the program it waits for
// ever to be continued.
type Job struct {
	ctx       context.Context
	NoShell   bool          // nobody could continue the program
	waits     atomic.Bool   // for continued
	continued chan struct{} // room for one
}

// New makes the job of a program that ends with ctx.
func New(ctx context.Context) *Job { return &Job{ctx: ctx, continued: make(chan struct{}, 1)} }

// ResumedMsg says that the program has its terminal back; Err is why it was not
// stopped, nil if it was.
type ResumedMsg struct{ Err error }

// ContinuedMsg says that the program was stopped by something else than the key.
type ContinuedMsg struct{}

// errNotStopped says that the system has not stopped the program: there is no
// shell above it that could continue it.
var errNotStopped = errors.New("no shell here could bring tillwatch back")

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
		return "a confirm is under way: suspend once its outcome is known"
	}
	return ""
}

// Leave gives the terminal back and stops the program until it is continued. over
// says that it was already.
func (j *Job) Leave(screen *canvas.Canvas, over bool) tea.Cmd {
	s := &suspension{job: j, screen: screen, over: over}
	return tea.Exec(s, func(err error) tea.Msg { return ResumedMsg{err} })
}

// suspension is what the library runs while it has given the terminal back.
type suspension struct {
	job    *Job
	screen *canvas.Canvas
	over   bool      // the program was stopped and continued already
	input  io.Reader // the terminal
}

// SetStdin takes the terminal that the program reads.
func (s *suspension) SetStdin(r io.Reader) { s.input = r }

// SetStdout does nothing: nothing is written.
func (s *suspension) SetStdout(io.Writer) {}

// SetStderr does nothing: nothing is written.
func (s *suspension) SetStderr(io.Writer) {}

// Run gives the terminal back, stops the program and takes the terminal again once
// it is in the foreground. Where it is to end before that, it does not return: the
// terminal is not to be touched.
func (s *suspension) Run() error {
	err := s.screen.Leave()
	if !s.over {
		err = errors.Join(err, s.stop())
	}
	return errors.Join(err, s.screen.Enter())
}

func (s *suspension) stop() error {
	s.job.waits.Store(true)
	defer s.job.waits.Store(false)
	if err := stopProcess(); err != nil {
		return err
	}
	stopped := s.job.awaitContinued()
	for !InForeground(s.input) { // bg continued it, or a signal that ends it
		stopped = true
		select {
		case <-s.job.ctx.Done():
			select {} // Run leaves the program behind
		case <-time.After(lookAgain):
		}
	}
	if !stopped {
		return errNotStopped
	}
	return nil
}
