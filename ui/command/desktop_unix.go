//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// detach takes the terminal away from a program, which could draw on the dashboard
// otherwise.
func detach(program *exec.Cmd) { program.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
