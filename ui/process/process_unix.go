//go:build unix

// Package process ends a command together with the processes that it started.
package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Apart gives a command a session of its own: it cannot reach the terminal. When its
// context ends, what it started is asked to end, and after a while ended, but for what
// took a session of its own in turn.
func Apart(command *exec.Cmd, within time.Duration) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = func() error { return end(command, within) }
}

// end asks the processes of a command's group to end, and ends those that have not
// after a while.
func end(command *exec.Cmd, within time.Duration) error {
	group := -command.Process.Pid
	err := syscall.Kill(group, syscall.SIGTERM)
	for until := time.Now().Add(within); err == nil && time.Now().Before(until); time.Sleep(within / 50) {
		if syscall.Kill(group, 0) != nil {
			break // nobody is left; the process itself is until it is waited for
		}
	}
	if err := syscall.Kill(group, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
