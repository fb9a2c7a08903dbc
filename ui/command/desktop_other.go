//go:build !unix

package command

import "os/exec"

// detach does nothing here: there is no controlling terminal to take away.
func detach(*exec.Cmd) {}
