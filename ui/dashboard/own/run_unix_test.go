//go:build unix

package own

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a program for tests that does what a script says.
func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestWhatACommandPrintsIsKeptAndCannotReachTheTerminal(t *testing.T) {
	cases := []struct {
		name, script string
		lines        []string
		code         int
	}{
		{"lines of both outputs", "echo one; echo two >&2", []string{"one", "two"}, 0},
		{"an exit code", "echo no; exit 7", []string{"no"}, 7},
		{"nothing", "true", nil, 0},
		{"escapes", `printf 'a\033[2J\033]52;c;eA==\007b\033]0;title\007\n\033[31mred\033[m\n\233c\n'`, []string{"ab", "red"}, 0},
		{"a bar of progress", `printf '10%%\r50%%\r100%%\ndone\r\n'`, []string{"100%", "done"}, 0},
		{"the environment", `echo "$A-$HOME"`, []string{"b-"}, 0},
		{"nothing to read", "cat; echo read", []string{"read"}, 0},
		{"no terminal", "exec 2>/dev/null; echo bad >/dev/tty || echo none", []string{"none"}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := Run(t.Context(), shell(c.script), []string{"A=b", "PATH=" + os.Getenv("PATH")})
			if r.Err != nil || r.Code != c.code || !slices.Equal(r.Lines, c.lines) {
				t.Errorf("code %d, %v, %q; want %d, %q", r.Code, r.Err, r.Lines, c.code, c.lines)
			}
		})
	}
}

func TestTheOutputIsBounded(t *testing.T) {
	const printed = 20 << 20
	r := Run(t.Context(), shell("head -c "+strconv.Itoa(printed)+" /dev/zero | tr '\\0' 'x'"), []string{"PATH=" + os.Getenv("PATH")})
	kept := len(strings.Join(r.Lines, ""))
	if r.Err != nil || kept != mostKept || r.Dropped != printed-mostKept {
		t.Errorf("kept %d bytes, dropped %d, %v", kept, r.Dropped, r.Err)
	}
}

func TestALongLineIsDividedBetweenCharacters(t *testing.T) {
	for _, printed := range []string{strings.Repeat("é", longestLine), "a" + strings.Repeat("日本語", longestLine)} {
		r := Run(t.Context(), shell(`printf %s "$TEXT"`), []string{"TEXT=" + printed, "PATH=" + os.Getenv("PATH")})
		if got := strings.Join(r.Lines, ""); r.Err != nil || got != printed {
			t.Errorf("%d lines have %d bytes of %d, %v: %d characters were broken", len(r.Lines), len(got), len(printed), r.Err, strings.Count(got, "\ufffd"))
		}
	}
}

func TestTheCharacterThatTheBoundCutsIsLeftOut(t *testing.T) {
	r := Run(t.Context(), shell("printf a; yes é | tr -d '\\n' | head -c "+strconv.Itoa(2*mostKept)), []string{"PATH=" + os.Getenv("PATH")})
	if got := strings.Join(r.Lines, ""); r.Err != nil || r.Dropped == 0 || !strings.HasSuffix(got, "éé") {
		t.Errorf("%v, dropped %d, the output ends with %q", r.Err, r.Dropped, got[max(len(got)-8, 0):])
	}
}

func TestAProgramThatIsNotThereIsSaid(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, program := range []string{gone, "no-such-program-anywhere", t.TempDir()} {
		if r := Run(t.Context(), []string{program}, nil); r.Err == nil || r.Code != -1 || !strings.Contains(r.Err.Error(), program) {
			t.Errorf("%s: code %d, %v", program, r.Code, r.Err)
		}
	}
}

func TestACancelledCommandEndsWithAllItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	script := `trap '' TERM; sleep 600 & echo $! >>"` + pids + `"; (trap '' TERM; sleep 600) & echo $! >>"` + pids + `"; echo $$ >>"` + pids + `"; echo begun; sleep 600; sleep 600`
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan Result, 1)
	go func() { ended <- Run(ctx, shell(script), []string{"PATH=" + os.Getenv("PATH")}) }()
	var started []string
	eventually(t, "the command has started all", func() bool {
		content, _ := os.ReadFile(pids)
		started = strings.Fields(string(content))
		return len(started) == 3 && strings.HasSuffix(string(content), "\n")
	})
	cancel()
	began := time.Now()
	if r := <-ended; !errors.Is(r.Err, ErrCancelled) || time.Since(began) > 10*time.Second {
		t.Fatalf("%v after %v", r.Err, time.Since(began))
	}
	for _, text := range started {
		pid, _ := strconv.Atoi(text)
		eventually(t, "process "+text+" is gone", func() bool { return !alive(pid) })
	}
}

// eventually waits until so is true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for late := time.After(time.Minute); !so(); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-late:
			t.Fatalf("waited in vain: %s", what)
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

func TestWhatACommandLeavesBehindIsNotWaitedFor(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left")
	r := Run(t.Context(), shell(`sleep 600 & echo $! >"`+left+`"; echo left`), []string{"PATH=" + os.Getenv("PATH")})
	if r.Err != nil || r.Code != 0 || !slices.Equal(r.Lines, []string{"left"}) {
		t.Errorf("code %d, %v, %q", r.Code, r.Err, r.Lines)
	}
	text, err := os.ReadFile(left)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !alive(pid) {
		t.Fatalf("process %q was waited for, or ended: %v", text, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
