package canvas

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cooked is a terminal that is not raw: a line feed returns the carriage.
type cooked struct{ *terminal }

func (t cooked) Write(p []byte) (int, error) {
	_, err := t.terminal.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// TestAnUnknownTerminalIsOnlyAskedToMoveAndToPrint holds on what is no xterm to
// what a VT100 has: no insert mode, no inserted, deleted or repeated cells.
func TestAnUnknownTerminalIsOnlyAskedToMoveAndToPrint(t *testing.T) {
	frame := func(word string) []string {
		return []string{fmt.Sprintf("%-60s", "tillwatch"), fmt.Sprintf("%-60s", " read "+word+"by age"), "\x1b[0;1m" + fmt.Sprintf("%-60s", word) + "\x1b[m"}
	}
	words := []string{"now ", "10s ago ", "", "wool socks, two of them ", "now "}
	for _, term := range []string{"", "dumb", "vt100", "vt220", "ansi", "rxvt-unicode", "screen.xterm-256color"} {
		t.Run("TERM="+term, func(t *testing.T) {
			screen := newTerminal(60, 3)
			c := New(Config{Out: screen, Environ: []string{"TERM=" + term}})
			defer give(c)
			c.Resize(60, 3)
			take(c)
			for _, word := range words {
				screen.last = ""
				c.Show(frame(word))
				c.drawLate() // does not wait for the pause
				if got, want := screen.looks(), asPrinted(frame(word), 60, 3); got != want {
					t.Errorf("after %q it shows\n%s", screen.last, screen.String())
				}
				if left := asked.ReplaceAllString(screen.last, ""); strings.Contains(left, "\x1b") {
					t.Errorf("it is asked for %q", left)
				}
			}
		})
	}
}

// asked is all that any terminal is asked for while frames are drawn.
var asked = regexp.MustCompile(`\x1b\[(\d+;\d+|)H|\x1b\[[0-9;]*m|\x1b\[2J|\x1b\[\?7[hl]`)

// TestNoTerminalLosesCells draws frame after frame on terminals that understand
// much or little, as TERM names them.
func TestNoTerminalLosesCells(t *testing.T) {
	terms := []string{"", "dumb", "vt100", "vt220", "ansi", "linux", "screen", "tmux-256color", "xterm-kitty", "alacritty", "st", "xterm"}
	rapid.Check(t, func(t *rapid.T) {
		term := rapid.SampledFrom(terms).Draw(t, "TERM")
		raw := rapid.Bool().Draw(t, "raw")
		width, height := rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
		screen := newTerminal(width, height)
		cfg := Config{Out: screen, Environ: []string{"TERM=" + term}}
		if !raw {
			cfg.Out = cooked{screen}
		}
		c := New(cfg)
		c.Resize(width, height)
		defer give(c)
		take(c)
		var lines []string
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			lines = aFrame(t, lines, width, height)
			c.Show(lines)
			c.drawLate() // does not wait for the pause
			if got, want := screen.looks(), asPrinted(lines, width, height); got != want {
				t.Fatalf("TERM=%s, after %q it shows\n%s\nwant\n%s", term, screen.last, got, want)
			}
		}
	})
}
