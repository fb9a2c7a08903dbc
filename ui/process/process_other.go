//go:build !unix

// Package process ends a command together with the processes that it started.
package process

import (
	"os/exec"
	"time"
)

// Apart leaves a command as it is: when its context ends, it alone is ended.
func Apart(*exec.Cmd, time.Duration) {}
