//go:build !unix

package command

import "os/exec"

// detach has nothing to take from a program here.
func detach(*exec.Cmd) {}
