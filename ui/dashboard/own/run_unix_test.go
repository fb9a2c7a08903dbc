//go:build unix

package own

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// terminal is a terminal from which a command is run, and what happened to it.
type terminal struct {
	keys  *os.File // what is typed
	shown bytes.Buffer
	steps []string
}

// runIn runs a script with the terminal, in which a person has typed these keys.
func runIn(ctx context.Context, t *testing.T, keys string, argv ...string) (*terminal, error) {
	t.Helper()
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), keyboard.Close() })
	if _, err := keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	screen := &terminal{keys: keyboard}
	step := func(name string) func() error {
		return func() error { screen.steps = append(screen.steps, name); return nil }
	}
	taking := Taking{
		Name: "Note", Argv: argv, Environ: []string{"A=b", "PATH=" + os.Getenv("PATH")}, In: in, Out: &screen.shown,
		Leave: step("leave"), Enter: step("enter"),
		SuspendInterrupts: func() func() { _ = step("suspend")(); return func() { _ = step("resume")() } },
	}
	return screen, taking.Run(ctx)
}

func TestACommandHasTheTerminalUntilEnterIsPressed(t *testing.T) {
	cases := []struct {
		name, script string
		keys         string
		says         []string
	}{
		{"its output stays to be read", "echo one; echo two >&2", "\n", []string{"one\ntwo\n", "Note ended after ", "Press enter to go back to tillwatch."}},
		{"it reads the keyboard", "read line; echo \"<$line>\"", "typed\nx\r", []string{"<typed>", "Note ended after "}},
		{"its exit code is said", "exit 7", "\n", []string{"Note ended with exit code 7 after "}},
		{"it has its own environment", `echo "$A-$HOME"`, "\n", []string{"b-\n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			screen, err := runIn(t.Context(), t, c.keys, "/bin/sh", "-c", c.script)
			if failed := strings.Contains(c.name, "exit code"); (err != nil) != failed {
				t.Errorf("it returned %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(screen.shown.String(), want) {
					t.Errorf("no %q in %q", want, screen.shown.String())
				}
			}
			if want := []string{"suspend", "leave", "enter", "resume"}; !slices.Equal(screen.steps, want) {
				t.Errorf("the terminal saw %q, want %q", screen.steps, want)
			}
		})
	}
}

func TestAProgramThatIsNotThereIsSaid(t *testing.T) {
	for _, program := range []string{filepath.Join(t.TempDir(), "gone"), "no-such-program-anywhere", t.TempDir()} {
		screen, err := runIn(t.Context(), t, "\n", program)
		if err == nil || !strings.Contains(err.Error(), program) || !strings.Contains(screen.shown.String(), "Note: "+err.Error()) {
			t.Errorf("%s: %v, %q", program, err, screen.shown.String())
		}
	}
}

func TestTheEndOfTheDashboardEndsTheCommandAndTheWaiting(t *testing.T) {
	for name, script := range map[string]string{"the command": "exec sleep 600", "the waiting": "true"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			began := time.Now()
			if _, err := runIn(ctx, t, "", "/bin/sh", "-c", script); time.Since(began) > time.Minute {
				t.Errorf("it went on for %v: %v", time.Since(began), err)
			}
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Error("it ended before the dashboard did")
			}
		})
	}
}
