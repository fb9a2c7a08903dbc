//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// detach takes the terminal from a program: else one that runs in a terminal would
// draw on the dashboard.
func detach(program *exec.Cmd) { program.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
