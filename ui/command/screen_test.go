package command

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// screen is an emulated terminal: what is written to it can be read as text, and
// keys typed on it arrive at whoever reads it.
type screen struct {
	mu       sync.Mutex
	emulator *vt.Emulator
	changed  chan struct{} // closed and replaced at each write
	hidden   bool          // the cursor is hidden
	raw      []byte        // all that was written

	typed *typeahead
}

// typeahead keeps what is typed, and what a terminal answers, until it is read, as
// systems do: whoever writes never waits for the program.
type typeahead struct {
	mu     sync.Mutex
	more   sync.Cond
	bytes  bytes.Buffer
	closed bool
}

func newTypeahead() *typeahead {
	a := &typeahead{}
	a.more.L = &a.mu
	return a
}

func (a *typeahead) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, io.ErrClosedPipe
	}
	a.more.Signal()
	return a.bytes.Write(p)
}

func (a *typeahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.bytes.Len() == 0 && !a.closed {
		a.more.Wait()
	}
	if a.closed {
		return 0, io.ErrClosedPipe
	}
	return a.bytes.Read(p)
}

func (a *typeahead) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.more.Broadcast()
}

func newScreen(t *testing.T, width, height int) *screen {
	t.Helper()
	s := &screen{emulator: vt.NewEmulator(width, height), changed: make(chan struct{})}
	s.emulator.SetCallbacks(vt.Callbacks{CursorVisibility: func(visible bool) { s.hidden = !visible }})
	s.typed = newTypeahead()
	answered := make(chan struct{})
	go func() { // the terminal's own answers to queries
		defer close(answered)
		io.Copy(s.typed, s.emulator)
	}()
	t.Cleanup(func() {
		s.typed.close()
		if err := s.emulator.InputPipe().(io.Closer).Close(); err != nil {
			t.Errorf("closing the screen: %v", err)
		}
		<-answered
	})
	return s
}

// Write takes what the program draws. Line feeds return the carriage, as a
// program expects of whatever is no raw terminal.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, p...)
	_, err := s.emulator.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), err
}

// Read gives the program what was typed.
func (s *screen) Read(p []byte) (int, error) { return s.typed.Read(p) }

// resize changes the size and tells the program, as terminals do that report a
// resize in band.
func (s *screen) resize(t *testing.T, width, height int) {
	t.Helper()
	s.mu.Lock()
	s.emulator.Resize(width, height)
	s.mu.Unlock()
	s.press(t, fmt.Sprintf("\x1b[48;%d;%d;0;0t", height, width))
}

func (s *screen) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.typed, keys); err != nil {
		t.Fatalf("pressing %q: %v", keys, err)
	}
}

// rest leaves the keys alone for longer than a dialog with money behind it wants,
// by the board's own clock.
func (s *screen) rest(t *testing.T) {
	t.Helper()
	text, _ := s.text()
	s.waitTicks(t, text, 2)
}

// agree presses what confirms as a person does: after a rest, and again where the
// dialog says that it was too soon. It waits until the screen matches every pattern.
func (s *screen) agree(t *testing.T, keys string, patterns ...string) string {
	t.Helper()
	s.rest(t)
	if text, _ := s.text(); missing(text, patterns) == "" {
		return text
	}
	s.waitGone(t, tooSoon+"Wait a moment") // what is said of an earlier key until it would be taken
	s.press(t, keys)
	return s.insist(t, keys, patterns...)
}

// tooSoon is said of a key that was not taken.
const tooSoon = "Too soon: ignored. "

// insist is agree after the first press.
func (s *screen) insist(t *testing.T, keys string, patterns ...string) string {
	t.Helper()
	text := s.waitUntil(t, "what was agreed to, nor that it was too soon", func(text string) bool {
		return missing(text, patterns) == "" || strings.Contains(text, tooSoon)
	})
	if missing(text, patterns) == "" {
		return text
	}
	return s.agree(t, keys, patterns...)
}

func (s *screen) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.String(), s.changed
}

// patience bounds how long a test waits for the screen: long, as it decides
// nothing but when to give up.
const patience = 2 * time.Minute

// everLonger are the times that a command is given which has to give up in the
// end: the next one where the machine was too busy for the one before.
func everLonger() []string { return []string{"1s", "6s", "30s"} }

// waitFor waits until the screen matches every pattern.
func (s *screen) waitFor(t *testing.T, patterns ...string) string {
	t.Helper()
	return s.waitUntil(t, fmt.Sprintf("all of %q", patterns), func(text string) bool { return missing(text, patterns) == "" })
}

// waitUntil waits until the screen is as wanted.
func (s *screen) waitUntil(t *testing.T, what string, wanted func(text string) bool) string {
	t.Helper()
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	for {
		text, changed := s.text()
		if wanted(text) {
			return text
		}
		select {
		case <-changed:
		case <-giveUp.C:
			t.Fatalf("the screen never showed %s:\n%s", what, text)
		}
	}
}

// waitGone waits until the pattern is no longer on the screen.
func (s *screen) waitGone(t *testing.T, pattern string) string {
	t.Helper()
	gone := regexp.MustCompile(pattern)
	return s.waitUntil(t, "itself without "+pattern, func(text string) bool { return !gone.MatchString(text) })
}

// waitWritten waits until the program has written a sequence of bytes.
func (s *screen) waitWritten(t *testing.T, sequence string) {
	t.Helper()
	s.waitUntil(t, fmt.Sprintf("%q", sequence), func(string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.raw, []byte(sequence))
	})
}

func missing(text string, patterns []string) string {
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			return p
		}
	}
	return ""
}
