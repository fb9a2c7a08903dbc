package command

import (
	"os"
	"runtime/debug"
	"time"
)

// While a program starts, collecting garbage costs more than it brings: it makes
// the first paint wait. A start that needs more memory than startMemory is
// collected nevertheless.
const (
	startTime   = 250 * time.Millisecond
	startMemory = 48 << 20 // bytes
)

// screenGCPercent is how much garbage a screen may gather, in percent of what it
// needs: less than usual, as it lies open all day beside other programs.
const screenGCPercent = 40

// startWithoutCollecting puts the collector off until startTime has passed.
// A user who has set GOGC or GOMEMLIMIT decides himself.
func startWithoutCollecting() {
	if tuned() {
		return
	}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(startMemory)
	time.AfterFunc(startTime, func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
}

// liveSparely has a process that lies open all day take little memory, once it
// has started. The returned function ends what it waits for.
func liveSparely() (stop func()) {
	if tuned() {
		return func() {}
	}
	timer := time.AfterFunc(2*startTime, func() { debug.SetGCPercent(screenGCPercent) })
	return func() { timer.Stop() }
}

func tuned() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
