//go:build unix

package job

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"go.uber.org/goleak"
)

// keyboardOf is the keyboard of a terminal, and what it reports.
func keyboardOf(t *testing.T) (k *Keyboard, far, terminal *os.File, told chan tea.Msg) {
	t.Helper()
	far, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close(); far.Close() })
	if _, err := term.MakeRaw(terminal.Fd()); err != nil {
		t.Fatal(err)
	}
	told = make(chan tea.Msg)
	return NewKeyboard(terminal, "xterm", tellOneByOne(told)), far, terminal, told
}

// tellOneByOne passes messages on, and keys that came together one by one.
func tellOneByOne(told chan<- tea.Msg) func(tea.Msg) {
	return func(msg tea.Msg) {
		keys, together := msg.(KeysMsg)
		if !together {
			told <- msg
		}
		for _, key := range keys {
			told <- key
		}
	}
}

func types(t *testing.T, far *os.File, keys string) {
	t.Helper()
	if _, err := far.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func TestAKeyboardThatIsGivenAwayIsReadByNobody(t *testing.T) {
	before := goleak.IgnoreCurrent()
	k, far, terminal, told := keyboardOf(t)
	if err := k.Take(); err != nil {
		t.Fatal(err)
	}
	types(t, far, "abc")
	if key := (<-told).(interface{ String() string }); key.String() != "a" {
		t.Errorf("got %s", key)
	}
	given := make(chan error)
	go func() { given <- k.Give() }() // with keys that nobody was told of
	var last tea.Msg
	for range 2 {
		last = <-told
	}
	if key := last.(interface{ String() string }); key.String() != "c" {
		t.Errorf("got %s at last", key)
	}
	if err := <-given; err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
	types(t, far, "sh")
	read := make([]byte, 2)
	if _, err := io.ReadFull(terminal, read); err != nil || string(read) != "sh" {
		t.Errorf("who has the terminal reads %q, %v", read, err)
	}
	if err := k.Give(); err != nil { // to a second
		t.Fatal(err)
	}
	for range 2 {
		goleak.VerifyNone(t, before)
		if err := k.Take(); err != nil {
			t.Fatal(err)
		}
	}
	types(t, far, "d")
	if key := (<-told).(interface{ String() string }); key.String() != "d" {
		t.Errorf("got %s, taken again", key)
	}
	if err := k.Give(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

func TestASizeThatNobodyAskedTheTerminalForIsNotBelieved(t *testing.T) {
	k, far, _, told := keyboardOf(t)
	if err := k.Take(); err != nil {
		t.Fatal(err)
	}
	types(t, far, "\x1b[8;9999;9999ta")
	if msg := <-told; msg == (uv.WindowSizeEvent{Width: 9999, Height: 9999}) {
		t.Errorf("the screen is told of %v", msg)
		<-told
	}
	if err := k.Give(); err != nil {
		t.Error(err)
	}
}

func TestAKeyboardForgetsAPasteThatDoesNotEnd(t *testing.T) {
	k, far, _, told := keyboardOf(t)
	if err := k.Take(); err != nil {
		t.Fatal(err)
	}
	types(t, far, "\x1b[200~abc")
	if msg := <-told; msg != (uv.PasteStartEvent{}) {
		t.Fatalf("got %v", msg)
	}
	if msg := k.Renew()(); msg != nil {
		t.Fatalf("got %v", msg)
	}
	types(t, far, "d")
	if key := (<-told).(interface{ String() string }); key.String() != "d" {
		t.Errorf("got %s", key)
	}
	if err := k.Give(); err != nil {
		t.Error(err)
	}
}

func TestAKeyboardThatCannotBeReadEndsTheProgram(t *testing.T) {
	terminal, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer far.Close()
	if err := terminal.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	types(t, far, "a")
	told := make(chan tea.Msg)
	k := NewKeyboard(terminal, "xterm", tellOneByOne(told))
	if err := k.Take(); err != nil {
		t.Fatal(err)
	}
	if msg := <-told; msg != tea.Quit() {
		t.Errorf("got %v", msg)
	}
	for range 2 {
		if err := k.Give(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it fails with %v", err)
		}
	}
}
