package main

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// usage is what a process has used since its start.
type usage struct {
	cpu      time.Duration // of all its threads, in steps of 10 ms
	switches uint64        // how often a thread waited and was woken
	resident int           // bytes, now
}

// readUsage reads the usage of a process from /proc.
func readUsage(process int) (usage, error) {
	proc, err := procfs.NewProc(process)
	if err != nil {
		return usage{}, fmt.Errorf("read what the process used (needs Linux): %w", err)
	}
	stat, err := proc.Stat()
	if err != nil {
		return usage{}, fmt.Errorf("read what the process used: %w", err)
	}
	threads, err := procfs.AllThreads(process)
	if err != nil {
		return usage{}, fmt.Errorf("read what the threads of the process used: %w", err)
	}
	u := usage{cpu: time.Duration(stat.CPUTime() * float64(time.Second)), resident: stat.ResidentMemory()}
	for _, thread := range threads {
		if status, err := thread.NewStatus(); err == nil { // it may have ended since it was listed
			u.switches += status.VoluntaryCtxtSwitches
		}
	}
	return u, nil
}
