package canvas

import (
	"fmt"
	"strings"
	"testing"
)

func TestARedrawCoversWhatAnotherProgramHasWritten(t *testing.T) {
	terminal := newTerminal(20, 3)
	c := open(terminal)
	lines := []string{fmt.Sprintf("%-20s", "wool socks"), fmt.Sprintf("%-20s", "mug"), strings.Repeat(" ", 20)}
	c.Redraw() // no screen yet: nothing is drawn
	if terminal.writes != 0 {
		t.Errorf("%q was drawn before the screen was taken", terminal.all)
	}
	take(c)
	c.Show(lines)
	fmt.Fprint(terminal, "\x1b[2;1H\x1b[31;44mwrite: no space left\x1b[m")
	c.Redraw()
	if got, want := terminal.looks(), asPrinted(lines, 20, 3); got != want {
		t.Errorf("it shows\n%s\nwant\n%s", terminal.String(), strings.Join(lines, "\n"))
	}
}
