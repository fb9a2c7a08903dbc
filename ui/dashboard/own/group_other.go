//go:build !unix

package own

import (
	"os/exec"
	"time"
)

func apart(*exec.Cmd) {}

func end(command *exec.Cmd, _ time.Duration) error { return command.Process.Kill() }
