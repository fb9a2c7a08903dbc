package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used since its start.
type usage struct {
	cpu      time.Duration // of all its threads, in steps of 10 ms
	switches int           // how often a thread waited and was woken
	resident int64         // bytes, now
}

// clockTick is the unit of the times in /proc/PID/stat, on every Linux.
const clockTick = 10 * time.Millisecond

// readUsage reads the usage of a process from /proc.
func readUsage(process int) (usage, error) {
	var u usage
	folder := filepath.Join("/proc", strconv.Itoa(process))
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return u, fmt.Errorf("read what the process used (needs Linux): %w", err)
	}
	// The program's name is in parentheses and may hold blanks.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const userTime, systemTime = 11, 12
	if len(fields) <= systemTime {
		return u, fmt.Errorf("%s/stat has only %d fields", folder, len(fields))
	}
	for _, field := range [][]byte{fields[userTime], fields[systemTime]} {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return u, fmt.Errorf("read %s/stat: %w", folder, err)
		}
		u.cpu += time.Duration(ticks) * clockTick
	}
	if u.resident, err = statusField(filepath.Join(folder, "status"), "VmRSS"); err != nil {
		return u, err
	}
	u.resident *= 1024
	threads, err := filepath.Glob(filepath.Join(folder, "task", "*", "status"))
	if err != nil {
		return u, err
	}
	for _, thread := range threads {
		// The thread may have ended since it was listed.
		if n, err := statusField(thread, "voluntary_ctxt_switches"); err == nil {
			u.switches += int(n)
		}
	}
	return u, nil
}

// statusField reads one number of a status file.
func statusField(path, name string) (int64, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		key, value, _ := strings.Cut(line, ":")
		if key == name {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
