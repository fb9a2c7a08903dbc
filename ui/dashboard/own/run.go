package own

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/muesli/cancelreader"

	"tillwatch/ui/wording"
)

// Taking runs a command that takes over the terminal.
type Taking struct {
	Name              string // of the command
	Argv, Environ     []string
	In                io.Reader              // the terminal
	Out               io.Writer              // the terminal
	Leave, Enter      func() error           // give the terminal back, and take it again
	SuspendInterrupts func() (resume func()) // leaves signals from the keyboard to the command until resume; may be nil

	Ended string // after Run: how the command ended, and after how long
}

// heldOpen is how long other processes may hold the command's output open after its end.
const heldOpen = time.Second

// Run gives the command the terminal until it has ended and a person has read what it left
// there. If ctx ends first, Run ends the command.
func (t *Taking) Run(ctx context.Context) error {
	if t.SuspendInterrupts != nil {
		defer t.SuspendInterrupts()()
	}
	if err := t.Leave(); err != nil {
		t.Ended = t.end(err, 0)
		return errors.Join(err, t.Enter())
	}
	command := exec.CommandContext(ctx, t.Argv[0], t.Argv[1:]...)
	command.Env, command.Stdin, command.Stdout, command.Stderr, command.WaitDelay = t.Environ, t.In, t.Out, t.Out, heldOpen
	began := time.Now()
	err := command.Run()
	t.Ended = t.end(err, time.Since(began))
	fmt.Fprintf(t.Out, "\r\n%s. Press enter to go back to tillwatch. ", t.Ended)
	t.awaitEnter(ctx)
	return errors.Join(err, t.Enter())
}

// awaitEnter returns at the end of a line, of the input or of ctx.
func (t *Taking) awaitEnter(ctx context.Context) {
	in, err := cancelreader.NewReader(t.In)
	if err != nil {
		return
	}
	defer in.Close()
	defer context.AfterFunc(ctx, func() { in.Cancel() })()
	for b := make([]byte, 1); ; {
		if n, err := in.Read(b); err != nil || n > 0 && (b[0] == '\n' || b[0] == '\r') {
			return
		}
	}
}

// end says how the command ended, and after how long.
func (t *Taking) end(err error, took time.Duration) string {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return fmt.Sprintf("%s ended after %s", t.Name, wording.Took(took))
	case errors.As(err, &exit) && exit.Exited():
		return fmt.Sprintf("%s ended with exit code %d after %s", t.Name, exit.ExitCode(), wording.Took(took))
	}
	return t.Name + ": " + err.Error()
}
