package terminal

import (
	"cmp"
	"image/color"
	"io"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// screen is the emulated screen of a terminal.
type screen struct {
	mu       sync.Mutex
	emulator *vt.Emulator
	answered chan struct{} // closed when no answer can follow
}

// newScreen returns a screen of the default colours, which sends its answers to queries to w until close.
func newScreen(width, height int, w io.Writer) *screen {
	s := &screen{emulator: vt.NewEmulator(width, height), answered: make(chan struct{})}
	s.colour(color.RGBA{0x11, 0x11, 0x16, 0xff}, color.RGBA{0xd0, 0xd0, 0xd0, 0xff})
	go func() {
		defer close(s.answered)
		_, _ = io.Copy(w, s.emulator)
	}()
	return s
}

func (s *screen) colour(ground, ink color.Color) {
	s.emulator.SetDefaultBackgroundColor(ground)
	s.emulator.SetDefaultForegroundColor(ink)
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

// cells returns every row of cells.
func (s *screen) cells() (rows [][]uv.Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for y := range s.emulator.Height() {
		row := make([]uv.Cell, s.emulator.Width())
		for x := range row {
			row[x] = *cmp.Or(s.emulator.CellAt(x, y), &uv.Cell{})
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *screen) close() {
	if closer, ok := s.emulator.InputPipe().(io.Closer); ok {
		_ = closer.Close()
	}
	<-s.answered
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
	s := newScreen(width, height, io.Discard)
	defer s.close()
	d, last := Drawn{}, after
	var before [][]uv.Cell
	for i, c := range chunks {
		if c.At > after && before == nil {
			before = s.cells()
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
		now := s.cells()
		for y, row := range now {
			for x := range row {
				if row[x] != before[y][x] {
					d.Cells++
				}
			}
		}
		before = now
	}
	d.For = last - after
	return d
}

// Painted reports whether a screen's text has anything but blanks.
func Painted(text string) bool { return strings.TrimSpace(text) != "" }
