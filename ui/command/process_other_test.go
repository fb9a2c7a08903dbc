//go:build !unix

package command

import "os/exec"

func withoutTerminal(*exec.Cmd) {}
