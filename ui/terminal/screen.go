package terminal

import (
	"fmt"
	"image/color"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/lucasb-eyer/go-colorful"
)

// screen is the emulated screen of a terminal.
type screen struct {
	mu       sync.Mutex
	emulator *vt.Emulator
	answers  chan struct{} // closed when no answer can follow
}

func newScreen(o Options) (*screen, error) {
	s := &screen{emulator: vt.NewEmulator(o.Width, o.Height)}
	ink, ground := color.RGBA{0xd0, 0xd0, 0xd0, 0xff}, color.Color(color.RGBA{0x11, 0x11, 0x16, 0xff})
	if o.Ground != "" {
		given, err := colorful.Hex(o.Ground)
		if err != nil {
			return nil, fmt.Errorf("background %q is not a colour such as #fdf6e3: %w", o.Ground, err)
		}
		if ground = given; given.R+given.G+given.B > 1.5 {
			ink = color.RGBA{0x20, 0x20, 0x20, 0xff}
		}
	}
	s.emulator.SetDefaultForegroundColor(ink)
	s.emulator.SetDefaultBackgroundColor(ground)
	return s, nil
}

// answerTo sends the terminal's answers to queries to w until close.
func (s *screen) answerTo(w io.Writer) {
	s.answers = make(chan struct{})
	go func() {
		defer close(s.answers)
		_, _ = io.Copy(w, s.emulator)
	}()
}

func (s *screen) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.emulator.Write(p)
}

func (s *screen) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emulator.Resize(width, height)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.String()
}

func (s *screen) close() {
	if closer, ok := s.emulator.InputPipe().(io.Closer); ok {
		_ = closer.Close()
	}
	<-s.answers
}

// framePause is the least pause between two frames.
const framePause = 3 * time.Millisecond

// Drawn counts what a program drew in a span of time.
type Drawn struct {
	For    time.Duration
	Bytes  int
	Frames int // groups of chunks with a pause before them
	Cells  int // cells that a frame changed, summed over the frames
}

// Count counts what was drawn after a moment, on a terminal of the given size.
func Count(chunks []Chunk, after time.Duration, width, height int) Drawn {
	s := blank(width, height)
	defer s.close()
	d, last := Drawn{}, after
	var before []string
	for i, c := range chunks {
		if c.At > after && before == nil {
			before = s.looks()
		}
		s.write(c.Bytes)
		if c.At <= after {
			continue
		}
		d.Bytes += len(c.Bytes)
		last = c.At
		if i+1 < len(chunks) && chunks[i+1].At-c.At < framePause {
			continue
		}
		d.Frames++
		now := s.looks()
		for i := range now {
			if now[i] != before[i] {
				d.Cells++
			}
		}
		before = now
	}
	d.For = last - after
	return d
}

// FirstPaint returns when the first cell was drawn; ok is false if none was.
func FirstPaint(chunks []Chunk, width, height int) (at time.Duration, ok bool) {
	s := blank(width, height)
	defer s.close()
	for _, c := range chunks {
		if s.write(c.Bytes); Painted(s.text()) {
			return c.At, true
		}
	}
	return 0, false
}

// Painted reports whether a screen's text has anything but blanks.
func Painted(text string) bool { return strings.TrimSpace(text) != "" }

// blank returns a screen that discards its answers.
func blank(width, height int) *screen {
	s := &screen{emulator: vt.NewEmulator(width, height)}
	s.answerTo(io.Discard)
	return s
}

// looks returns the style and content of every cell.
func (s *screen) looks() []string {
	var all []string
	for y := range s.emulator.Height() {
		for x := range s.emulator.Width() {
			look := ""
			if c := s.emulator.CellAt(x, y); c != nil {
				look = c.Style.String() + c.Content
			}
			all = append(all, look)
		}
	}
	return all
}
