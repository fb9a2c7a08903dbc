//go:build unix

package attention

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAProgramThatDoesNotEndInTimeEndsWithAllItStarted(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	c := &Sender{
		Command: []string{"/bin/sh", "-c", `sleep 600 & echo $! >"` + started + `"; wait`},
		Environ: []string{"PATH=" + os.Getenv("PATH")},
	}
	pid := 0
	// A busy machine starts nothing in half a second.
	for _, c.Timeout = range []time.Duration{500 * time.Millisecond, 5 * time.Second, 30 * time.Second} {
		if err := c.start(t.Context(), Notice{}); err == nil || !strings.Contains(err.Error(), "did not end") {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(started)
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); pid != 0 {
			break
		}
	}
	if pid == 0 {
		t.Fatal("it started nothing")
	}
	for until := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("what it started lives on")
		}
	}
}

// alive reports whether a process runs; one that nobody waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
