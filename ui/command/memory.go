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

// How much garbage a screen may gather, in percent of what it needs: less than
// usual, as it lies open all day beside other programs. Once a history is loaded
// it is spareBytes, within these bounds: what is kept of a large account is quickly
// looked through, as most of it holds no pointers.
const (
	screenGCPercent = 40
	leastGCPercent  = 5
	spareBytes      = 5 << 19
)

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
	lookEvery    = 5 * time.Second
	quietBytes   = 4 << 20 // allocated between two looks, at most: collecting disturbs nobody
	worthBytes   = 2 << 20 // allocated since the last time, at least
	busyBytes    = 3 << 20 // that lie idle, at least, while much is allocated
	busyPatience = 2       // looks, between two times while much is allocated
	dropLooks    = 2       // between two times that pages of the program's file are dropped
)

// liveSparely has a process that lies open all day take little memory, until ctx
// ends: once it has started, once more when it has settled, which is when its
// history is loaded, and whenever it has been quiet or much lies idle.
func liveSparely(ctx context.Context, settled func() bool) {
	if tuned() || !sleep(ctx, 2*startTime) {
		return
	}
	percent := screenGCPercent
	debug.SetGCPercent(percent)
	var h hoard
	var pages programPages
	for looks := 0; sleep(ctx, lookEvery); looks++ {
		h.settled = h.settled || settled()
		now := readMemory()
		if h.look(now) {
			debug.FreeOSMemory()
			now = readMemory()
			if !h.started {
				h.started, looks = true, 0
			}
		}
		if h.started && looks%dropLooks == 0 {
			pages.drop()
		}
		if h.settled {
			if p := garbagePercent(now.live); p != percent {
				percent = p
				debug.SetGCPercent(p)
			}
		}
	}
}

// garbagePercent is how much garbage may gather beside so many bytes in use.
func garbagePercent(live uint64) int {
	return int(min(max(100*spareBytes/max(live, 1), leastGCPercent), screenGCPercent))
}

// hoard decides when memory is given back.
type hoard struct {
	settled, started bool
	last, given      uint64 // bytes allocated in all, at the last look and when memory was last given back
	looks            int    // since then
}

// look reports whether memory is to be given back.
func (h *hoard) look(now memory) bool {
	h.looks++
	quiet := now.allocated-h.last <= quietBytes && now.allocated-h.given >= worthBytes
	busy := h.started && h.looks >= busyPatience && now.idle >= busyBytes
	h.last = now.allocated
	if quiet || busy || h.settled && !h.started {
		h.given, h.looks = now.allocated, 0
		return true
	}
	return false
}

// memory is what the runtime tells of the process's memory, in bytes.
type memory struct {
	allocated uint64 // so far, in use or not
	live      uint64 // of the heap, after the last collection
	idle      uint64 // of the heap, free and not given back
}

func readMemory() memory {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	return memory{samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()}
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
