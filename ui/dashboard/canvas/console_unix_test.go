//go:build unix

package canvas

import (
	"reflect"
	"testing"

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
