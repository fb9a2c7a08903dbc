//go:build unix

package job

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// suspendPossible reports whether a shell can stop a program on this system.
const suspendPossible = true

// stopProcess stops all programs of the shell's job, as the terminal does for a program
// that leaves the suspend key to it.
func stopProcess() error {
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return fmt.Errorf("stopping the program: %w", err)
	}
	return nil
}

// InForeground reports whether the program may read and configure the terminal behind in;
// true if in is no terminal.
func InForeground(in any) bool {
	if !IsTerminal(in) {
		return true
	}
	group, err := unix.IoctlGetInt(int(in.(term.File).Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Follow follows each continuation of the program until its context ends, and calls
// report for those that nobody waited for.
func (j *Job) Follow(report func()) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	for {
		select {
		case <-continued:
			if !j.wake() {
				report()
			}
		case <-j.ctx.Done():
			return
		}
	}
}

// leftWithin is how long the terminal may take to accept what restores it.
const leftWithin = 2 * time.Second

// FollowQuit restores the terminal by calling leave when the program is told to end with a dump
// of its goroutines (SIGQUIT), and then lets it. It returns when the program's context ends.
func (j *Job) FollowQuit(leave func() error) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	defer signal.Stop(quit)
	select {
	case <-j.ctx.Done():
		return
	case <-quit:
	}
	left := make(chan error, 1)
	go func() { left <- leave() }() // may wait for ever: the process ends before it
	select {
	case <-left:
	case <-time.After(leftWithin):
	}
	signal.Stop(quit)
	_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
}
