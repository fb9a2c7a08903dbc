//go:build unix

package canvas

import (
	"bufio"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

func TestAKeyboardIsLeftAsItWasThoughAProgramLeftItRaw(t *testing.T) {
	far, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close(); far.Close() })
	setup := func() *term.State {
		t.Helper()
		state, err := term.GetState(terminal.Fd())
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	before := setup()
	c := New(Config{In: terminal, Out: terminal, Environ: []string{"TERM=xterm-256color"}})
	take(c)
	raw := setup()
	give(c)
	if _, err := term.MakeRaw(terminal.Fd()); err != nil { // as a program does that is killed
		t.Fatal(err)
	}
	if err := c.Retake(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(setup(), raw) {
		t.Error("the dashboard has another keyboard than before")
	}
	give(c)
	if !reflect.DeepEqual(setup(), before) {
		t.Error("the shell has another keyboard than before")
	}
}

// answering plays a terminal. It answers once the other screen was left: late.
func answering(t *testing.T, far *os.File, answers string, sent chan<- struct{}) {
	t.Helper()
	told := bufio.NewReader(far)
	for all := ""; !strings.HasSuffix(all, ansi.ResetModeAltScreenSaveCursor); {
		r, err := told.ReadByte()
		if err != nil {
			t.Error(err)
			return
		}
		all += string(r)
	}
	if _, err := io.WriteString(far, answers); err != nil {
		t.Error(err)
	}
	close(sent)
	_, _ = io.Copy(io.Discard, told) // until the test closes it
}

func TestAnswersOnTheirWayDoNotReachTheShell(t *testing.T) {
	const attributes = "\x1b[?62;22c"
	for _, c := range []struct {
		name    string
		asked   string // by a dialog
		silent  bool   // the terminal has answered nothing for long
		answers string
		waits   time.Duration // at most, for answers
	}{
		{"modes and a colour", "", false, "\x1b[?2026;2$y\x1b[?2027;1$y\x1b]11;rgb:1111/1111/1111\x1b\\" + attributes, time.Minute},
		{"where the mouse was", "", false, "\x1b[<35;10;10M\x1b[<35;10;11M" + attributes, time.Minute},
		{"keys of the protocol", "", false, "\x1b[97;;97u\x1b[13u" + attributes, time.Minute},
		{"a dialog's question", ansi.RequestPrimaryDeviceAttributes, true, attributes + "\x1b[?2027;1$y" + attributes, time.Minute},
		{"none, as the terminal is silent", "", false, "", 50 * time.Millisecond},
		{"none, as the terminal has always been silent", "", true, "", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			far, terminal, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			sent, done := make(chan struct{}), make(chan struct{})
			defer func() { terminal.Close(); <-done; far.Close() }()
			canvas := New(Config{In: terminal, Out: terminal, Environ: []string{"TERM=xterm-256color"}})
			take(canvas)
			canvas.patience = c.waits
			canvas.Tell(c.asked)
			if c.silent {
				canvas.entered = time.Now().Add(-time.Hour)
			}
			go func() { defer close(done); answering(t, far, c.answers, sent) }()
			began := time.Now()
			give(canvas)
			if found := canvas.found[ansi.ModeUnicodeCore]; found.IsSet() != strings.Contains(c.answers, "2027;1") {
				t.Errorf("mode 2027 is known as %d", found)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("that took %v", took)
			}
			<-sent
			if _, err := io.WriteString(far, "ls\n"); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(terminal).ReadString('\n'); line != "ls\n" {
				t.Errorf("the shell reads %q, %v", line, err)
			}
		})
	}
}

// A terminal behind a slow line is waited for as long as it has been seen to take, within bounds.
func TestASlowTerminalIsWaitedForLonger(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: answersWithin, 900 * time.Millisecond: 2700 * time.Millisecond, 3 * time.Second: longestAnswer,
	} {
		canvas := New(Config{Out: io.Discard})
		canvas.entered = time.Now().Add(-took)
		canvas.Learn(ansi.ModeSynchronizedOutput, ansi.ModeReset)
		if off := canvas.patience - want; off < 0 || off > time.Second && want != longestAnswer {
			t.Errorf("after an answer in %v it waits %v, want %v", took, canvas.patience, want)
		}
		first := canvas.patience
		canvas.Answered()
		if canvas.patience != first {
			t.Errorf("a later answer changes it to %v", canvas.patience)
		}
	}
}
