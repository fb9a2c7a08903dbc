//go:build unix

package doctor

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

func TestADoctorAsksTheTerminalOnceForItsGround(t *testing.T) {
	const question = "\x1b]11;?"
	for _, c := range []struct {
		name, noColor, answers string
		asked                  int
		verdict                Verdict
		want                   string
	}{
		{"a dark ground", "", "\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?62c", 1, OK, "; dark background; it answers in "},
		{"a light ground, while somebody types", "", "ls\r\x1b]11;rgb:ffff/ffff/ffff\a\x1b[?62;22c", 1, OK, "; light background; it answers in "},
		{"no ground", "", "\x1b[?6c", 1, OK, "; it does not report its background; it answers in "},
		{"a silent terminal", "", "", 1, Note, "; it answers no queries"},
		{"without colours", "1", "", 0, OK, ", colours: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			t.Setenv("NO_COLOR", c.noColor)
			t.Setenv("TTY_FORCE", "1")
			far, terminal, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := pty.Setsize(far, &pty.Winsize{Cols: 200, Rows: 50}); err != nil {
				t.Fatal(err)
			}
			before, err := term.GetState(terminal.Fd())
			if err != nil {
				t.Fatal(err)
			}
			asked := make(chan string)
			go func() { asked <- playTerminal(far, c.answers) }()
			began := time.Now()
			found := (&Setup{In: terminal, Out: terminal}).checkTerminal(t.Context())
			took := time.Since(began)
			if len(found) != 1 || found[0].Verdict != c.verdict || !strings.Contains(found[0].Found, c.want) {
				t.Errorf("found %+v, want %s", found, c.want)
			}
			if took > 3*time.Second {
				t.Errorf("that took %v", took)
			}
			if after, err := term.GetState(terminal.Fd()); err != nil || *after != *before {
				t.Errorf("the terminal is set up otherwise than before, %v", err)
			}
			terminal.Close()
			if said := <-asked; strings.Count(said, question) != c.asked {
				t.Errorf("the terminal was asked %q", said)
			}
			far.Close()
		})
	}
}

// playTerminal answers the first question for a terminal's attributes, and returns all that
// the terminal was sent once that is closed.
func playTerminal(far *os.File, answers string) string {
	var all []byte
	for buffer := make([]byte, 100); ; {
		n, err := far.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			return string(all)
		}
		if strings.HasSuffix(string(all), "\x1b[c") {
			_, _ = io.WriteString(far, answers)
		}
	}
}
