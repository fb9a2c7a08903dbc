package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
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

// When garbage, and the memory that it lay in, is given back to the system at
// once. The runtime itself would keep it for a time at which the program needs it
// again: for a screen that is after the next long history.
const (
	lookEvery  = 5 * time.Second
	quietBytes = 4 << 20 // allocated between two looks, at most: collecting disturbs nobody
	worthBytes = 2 << 20 // allocated since the last time, at least
)

// liveSparely has a process that lies open all day take little memory, until ctx
// ends: once it has started, once more when it has settled, which is when its
// history is loaded, and whenever it has been quiet.
func liveSparely(ctx context.Context, settled func() bool) {
	if tuned() || !sleep(ctx, 2*startTime) {
		return
	}
	debug.SetGCPercent(screenGCPercent)
	var h hoard
	for sleep(ctx, lookEvery) {
		h.settled = h.settled || settled()
		if h.look(allocated()) {
			debug.FreeOSMemory()
			if !h.started {
				h.started = true
				dropProgramPages()
			}
		}
	}
}

// hoard decides when memory is given back.
type hoard struct {
	settled, started bool
	last, given      uint64 // bytes allocated in all, at the last look and when memory was last given back
}

// look reports whether memory is to be given back, of which so many bytes were
// allocated in all so far.
func (h *hoard) look(allocated uint64) bool {
	quiet := allocated-h.last <= quietBytes && allocated-h.given >= worthBytes
	h.last = allocated
	if quiet || h.settled && !h.started {
		h.given = allocated
		return true
	}
	return false
}

// allocated is how many bytes were allocated so far, in use or not.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// sleep reports false when ctx ends before the time.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func tuned() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
