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

// Apart runs a command in a session of its own, from where it cannot reach the terminal.
// When the command's context ends, its processes are asked to end, and killed if they have
// not ended within the given time. A process that began another session is left alone.
func Apart(command *exec.Cmd, within time.Duration) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = func() error { return end(command, within) }
}

// end asks the processes of a command's group to end, and kills those that have not ended
// in time.
func end(command *exec.Cmd, within time.Duration) error {
	group := -command.Process.Pid
	err := syscall.Kill(group, syscall.SIGTERM)
	for until := time.Now().Add(within); err == nil && time.Now().Before(until); time.Sleep(within / 50) {
		if syscall.Kill(group, 0) != nil {
			break // the group is empty: a process belongs to it until it is waited for
		}
	}
	if err := syscall.Kill(group, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
