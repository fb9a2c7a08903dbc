//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// withoutTerminal starts a command in a session of its own, as a service has one.
func withoutTerminal(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
