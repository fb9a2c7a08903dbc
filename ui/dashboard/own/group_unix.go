//go:build unix

package own

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// apart gives a command a session of its own: it cannot reach the terminal, and what
// it starts can be ended, but for what takes a session of its own in turn.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

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
