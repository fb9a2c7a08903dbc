package command

import (
	"io"
	"regexp"
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

	keys  *io.PipeReader
	typed *io.PipeWriter
}

func newScreen(t *testing.T, width, height int) *screen {
	t.Helper()
	s := &screen{emulator: vt.NewEmulator(width, height), changed: make(chan struct{})}
	s.keys, s.typed = io.Pipe()
	answered := make(chan struct{})
	go func() { // the terminal's own answers to queries
		defer close(answered)
		io.Copy(s.typed, s.emulator)
	}()
	t.Cleanup(func() {
		s.keys.Close()
		s.emulator.Close()
		<-answered
	})
	return s
}

// Write takes what the program draws.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.emulator.Write(p)
	close(s.changed)
	s.changed = make(chan struct{})
	return n, err
}

// Read gives the program what was typed.
func (s *screen) Read(p []byte) (int, error) { return s.keys.Read(p) }

func (s *screen) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.typed, keys); err != nil {
		t.Fatalf("pressing %q: %v", keys, err)
	}
}

func (s *screen) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.String(), s.changed
}

// patience bounds how long a test waits for the screen: long, as it decides
// nothing but when to give up.
const patience = 60 * time.Second

// waitFor waits until the screen matches every pattern.
func (s *screen) waitFor(t *testing.T, patterns ...string) string {
	t.Helper()
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	for {
		text, changed := s.text()
		missing := missing(text, patterns)
		if missing == "" {
			return text
		}
		select {
		case <-changed:
		case <-giveUp.C:
			t.Fatalf("the screen never showed %q:\n%s", missing, text)
		}
	}
}

func missing(text string, patterns []string) string {
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			return p
		}
	}
	return ""
}
