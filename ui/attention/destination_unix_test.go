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
	destination := Destination{Command: []string{"/bin/sh", "-c", `sleep 60 & echo $! >"` + started + `"; wait`}, Timeout: 500 * time.Millisecond}
	if err := destination.Send(t.Context(), Sample(staging, "", noon), []string{"PATH=" + os.Getenv("PATH")}); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Fatal(err)
	}
	text, err := os.ReadFile(started)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid == 0 {
		t.Fatal(err, string(text))
	}
	for until := time.Now().Add(5 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
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
