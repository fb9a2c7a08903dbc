package command

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// programPages are where the program's file lies in memory.
type programPages struct {
	found bool
	spans []span
}

// drop has the system forget which pages of the program's file this process has
// touched. Most of them only its start needed, or what happens rarely; those that
// it needs again come back from the system's cache, a few hundred at a microsecond
// each.
func (p *programPages) drop() {
	if !p.found {
		p.found, p.spans = true, findProgramPages()
	}
	for _, r := range p.spans {
		// That it fails costs nothing but memory.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, r.from, r.to-r.from, syscall.MADV_DONTNEED)
	}
}

func findProgramPages() []span {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	mapped, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return nil
	}
	return filePages(string(mapped), program)
}

// span is a range of addresses.
type span struct{ from, to uintptr }

// filePages lists where a file is mapped and nothing was ever written, of what
// /proc/PID/smaps tells (see proc_pid_smaps(5)).
func filePages(smaps, file string) []span {
	var found []span
	var at span
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch {
		case !strings.HasSuffix(fields[0], ":"):
			at = span{}
			if len(fields) == 6 && fields[5] == file && strings.HasPrefix(fields[1], "r-") {
				at = readSpan(fields[0])
			}
		case fields[0] == "Anonymous:" && fields[1] == "0" && at.to > at.from:
			found = append(found, at)
		}
	}
	return found
}

func readSpan(text string) span {
	from, to, _ := strings.Cut(text, "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return span{}
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil {
		return span{}
	}
	return span{uintptr(start), uintptr(end)}
}
