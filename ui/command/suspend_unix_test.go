//go:build unix

package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

	tty "tillwatch/ui/terminal"
)

// shell is a shell with job control on a terminal.
type shell struct {
	*tty.Terminal
	ctx context.Context
	tmp string // the folder for passing files
}

func startShell(t *testing.T, width, height int) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	tmp := t.TempDir()
	env := []string{asProgram + "=1", "ENV=", "PS1=ready> ", "NO_COLOR=", "TMPDIR=" + tmp}
	s, err := tty.Start(ctx, tty.Options{Width: width, Height: height, Env: env}, "sh", "-i")
	if err != nil {
		t.Fatal(err)
	}
	sh := &shell{s, ctx, tmp}
	sh.shows(t, "the prompt", has("ready>"))
	return sh
}

// demo starts the demo and waits until it has read what the terminal answers to what
// it was asked at the start: a shell would take that for commands.
func (s *shell) demo(t *testing.T, height int) {
	t.Helper()
	s.types(t, "sh -c 'echo $$ >"+s.tmp+"/pid; exec "+os.Args[0]+" demo --speed 20'\r")
	s.shows(t, "the board in frames that begin and end", func(screen string) bool {
		return wholeBoard(height)(screen) && has(ansi.SetModeSynchronizedOutput)(s.written(0))
	})
	s.looksAtHelp(t, height)
}

// written is what was written to the terminal, but for its beginning.
func (s *shell) written(from int) string {
	var all []byte
	chunks, _ := s.Chunks()
	for _, c := range chunks {
		all = append(all, c.Bytes...)
	}
	return string(all[from:])
}

// pid is the process of the demo.
func (s *shell) pid(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.tmp, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func (s *shell) exit(t *testing.T) {
	t.Helper()
	s.types(t, "exit\r")
	_ = s.Wait() // with the code of the last command
}

func atPrompt(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "ready>") }

// types sends keys as a terminal would.
func (s *shell) types(t *testing.T, keys string) {
	t.Helper()
	if err := s.Type(keys); err != nil {
		t.Fatal(err)
	}
}

// shows waits until the screen is as wanted.
func (s *shell) shows(t *testing.T, what string, wanted func(screen string) bool) string {
	t.Helper()
	var seen string
	if err := s.WaitFor(s.ctx, func(text string) bool { seen = text; return wanted(text) }); err != nil {
		t.Fatalf("the screen never shows %s (%v):\n%s", what, err, seen)
	}
	return seen
}

func has(texts ...string) func(string) bool {
	return func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}
}

// wholeBoard reports whether the board fills a screen from its header to its
// footer, and nothing else is on it.
func wholeBoard(height int) func(string) bool {
	return func(screen string) bool {
		lines := strings.Split(screen, "\n")
		return len(lines) == height && strings.HasPrefix(lines[0], " tillwatch") && strings.Contains(lines[height-1], "q quit") &&
			has("INTENTS", "SHIPMENTS", "QUOTA", "EVENTS")(screen) && !strings.Contains(screen, "ready>")
	}
}

// hasStopped finds what shells say of a job that has stopped, wherever their line
// breaks, and not what was typed before.
func hasStopped(screen string) bool {
	said := strings.Join(strings.Fields(screen), "")
	return toldStopped.MatchString(said) && strings.Contains(said, "ready>")
}

var toldStopped = regexp.MustCompile(`\[1\]\+(Stopped|Suspended)`)

// looksAtHelp opens the help and closes it.
func (s *shell) looksAtHelp(t *testing.T, height int) {
	t.Helper()
	s.types(t, "?")
	s.shows(t, "the help", has("Help", "esc close"))
	s.types(t, "\x1b")
	s.shows(t, "the board without the help", func(screen string) bool {
		return wholeBoard(height)(screen) && !strings.Contains(screen, "esc close")
	})
}

// modes are what a program sets and resets of its terminal.
var modes = regexp.MustCompile(`\x1b\[\?([\d;]+)([hl])`)

// checkModes sees that the programs have left no mode of the terminal behind.
func (s *shell) checkModes(t *testing.T) {
	t.Helper()
	set := map[string]string{"25": "", "1049": ""}
	for _, found := range modes.FindAllStringSubmatch(s.written(0), -1) {
		for _, mode := range strings.Split(found[1], ";") {
			set[mode] = found[2]
		}
	}
	for mode, is := range set {
		if seen := mode == "25" || mode == "7"; seen && is != "h" || !seen && is != "l" { // the cursor is seen, lines wrap
			t.Errorf("the terminal's mode %s is left as %q", mode, is)
		}
	}
}

func TestADashboardThatWasSuspendedComesBackWhole(t *testing.T) {
	for _, size := range []struct{ width, height, laterWidth, laterHeight int }{
		{200, 55, 200, 55}, {120, 36, 80, 24},
	} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			t.Parallel()
			sh := startShell(t, size.width, size.height)
			sh.demo(t, size.height)
			sh.types(t, "\x1a")
			sh.shows(t, "that it has stopped", hasStopped)
			if err := sh.Resize(size.laterWidth, size.laterHeight); err != nil {
				t.Fatal(err)
			}
			sh.types(t, "fg\r")
			before := sh.shows(t, "the whole board again", wholeBoard(size.laterHeight))
			sh.shows(t, "how it goes on", func(screen string) bool { return wholeBoard(size.laterHeight)(screen) && screen != before })
			sh.looksAtHelp(t, size.laterHeight)
			sh.types(t, "q")
			sh.shows(t, "the prompt", atPrompt)
			sh.types(t, "stty -a; echo modes $((40 + 2))\r")
			if got := sh.shows(t, "how the terminal is set up", has("modes 42")); strings.Contains(got, "-icanon") || strings.Contains(got, "-echo ") {
				t.Errorf("the terminal is left as it was set up for the board:\n%s", got)
			}
			sh.checkModes(t)
			sh.exit(t)
		})
	}
}

func TestADashboardIsStoppedAndContinuedAsAnyJob(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, sh *shell){
		"bg does not have it draw over the shell": func(t *testing.T, sh *shell) {
			sh.types(t, "\x1a")
			sh.shows(t, "that it has stopped", hasStopped)
			sh.types(t, "bg; clear; sleep .5; echo runs $((40 + 2))\r")
			if got := sh.shows(t, "the shell's own words", has("runs 42")); strings.Contains(got, "INTENTS") {
				t.Errorf("it draws in the background:\n%s", got)
			}
		},
		"stopped by another program": func(t *testing.T, sh *shell) {
			// The stop may cut a frame in two: the terminal can take some of the shell's words for the rest of a sequence.
			from := len(sh.written(0))
			if err := syscall.Kill(sh.pid(t), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			sh.shows(t, "that it has stopped", func(string) bool { return hasStopped(sh.written(from)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sh := startShell(t, 80, 24)
			sh.demo(t, 24)
			stop(t, sh)
			from := len(sh.written(0))
			sh.types(t, "fg\n")                                             // the terminal may still be set up for the board
			sh.shows(t, "the whole board again", func(screen string) bool { // and the shell's words may be in it
				return has(ansi.SetModeAltScreenSaveCursor)(sh.written(from)) && wholeBoard(24)(screen)
			})
			sh.looksAtHelp(t, 24)
			sh.types(t, "q")
			sh.shows(t, "the prompt", atPrompt)
			sh.exit(t)
		})
	}
}

func TestASuspendedDashboardEndsInGoodOrderWhenItIsTold(t *testing.T) {
	t.Parallel()
	sh := startShell(t, 80, 24)
	sh.demo(t, 24)
	sh.types(t, "\x1a")
	sh.shows(t, "that it has stopped", hasStopped)
	sh.types(t, "kill %1; kill -CONT %1; while [ -e "+sh.tmp+"/tillwatch-demo-* ]; do sleep .1; done; echo ended $((40 + 2))\r")
	sh.shows(t, "that it has ended", has("ended 42"))
	sh.exit(t)
}

func TestADashboardThatIsToldToDumpItsStateLeavesTheTerminalWhole(t *testing.T) {
	t.Parallel()
	sh := startShell(t, 120, 24)
	sh.types(t, "stty -a >"+sh.tmp+"/before\r")
	sh.demo(t, 24)
	from := len(sh.written(0))
	if err := syscall.Kill(sh.pid(t), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	sh.shows(t, "the dump and the prompt", func(screen string) bool {
		return has("SIGQUIT: quit", "goroutine ")(sh.written(from)) && atPrompt(screen)
	})
	if left, dumped := strings.Index(sh.written(from), "\x1b[?1049l"), strings.Index(sh.written(from), "SIGQUIT"); left < 0 || left > dumped {
		t.Errorf("the dump goes to the other screen: %.200q", sh.written(from))
	}
	sh.types(t, "echo code $?; stty -a | cmp - "+sh.tmp+"/before && echo same $((40 + 2))\r")
	sh.shows(t, "that the terminal is as before", has("code 2", "same 42"))
	sh.exit(t)
}

func TestADashboardWithoutAShellStaysAndSaysWhy(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	alone, err := tty.Start(ctx, tty.Options{Width: 120, Height: 36, Env: []string{asProgram + "=1", "NO_COLOR="}}, os.Args[0], "demo")
	if err != nil {
		t.Fatal(err)
	}
	sh := &shell{Terminal: alone, ctx: ctx}
	sh.shows(t, "the board", wholeBoard(36))
	sh.types(t, "\x1a")
	sh.shows(t, "why it stays", func(screen string) bool {
		return wholeBoard(36)(screen) && has("not suspended: there is no shell here to bring tillwatch back")(screen)
	})
	sh.types(t, "q")
	if err := alone.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
