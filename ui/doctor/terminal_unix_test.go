//go:build linux || darwin || freebsd

package doctor

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

func TestATerminalIsNotAskedAndKeepsWhatIsTyped(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	far, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	defer terminal.Close()
	for _, c := range []struct {
		rows, columns uint16
		verdict       Verdict
	}{{50, 200, OK}, {5, 20, Warning}} {
		if err := pty.Setsize(far, &pty.Winsize{Rows: c.rows, Cols: c.columns}); err != nil {
			t.Fatal(err)
		}
		if _, err := far.Write([]byte("ls\n")); err != nil {
			t.Fatal(err)
		}
		f := (&Setup{In: terminal, Out: terminal}).terminal(t.Context())
		if f.Verdict != c.verdict || !strings.Contains(f.Found, "xterm-256color") {
			t.Errorf("found %+v", f)
		}
		typed := make([]byte, 8)
		if n, err := terminal.Read(typed); err != nil || string(typed[:n]) != "ls\n" {
			t.Errorf("typed is %q, %v", typed[:n], err)
		}
	}
	said := make([]byte, 64)
	if n, _ := far.Read(said); strings.Contains(string(said[:n]), "\x1b") {
		t.Errorf("the terminal was asked %q", said[:n])
	}
}
