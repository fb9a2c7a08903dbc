package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/vt"
)

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
	var d Drawn
	emulator := newScratch(width, height)
	defer emulator.close()
	var before []string
	last := after
	for i, c := range chunks {
		if c.At > after && before == nil {
			before = emulator.looks()
		}
		emulator.write(c.Bytes)
		if c.At <= after {
			continue
		}
		d.Bytes += len(c.Bytes)
		last = c.At
		if i+1 < len(chunks) && chunks[i+1].At-c.At < framePause {
			continue
		}
		d.Frames++
		now := emulator.looks()
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
	emulator := newScratch(width, height)
	defer emulator.close()
	for _, c := range chunks {
		emulator.write(c.Bytes)
		if Painted(emulator.emulator.String()) {
			return c.At, true
		}
	}
	return 0, false
}

// Painted reports whether a screen's text has anything but blanks.
func Painted(text string) bool { return strings.TrimSpace(text) != "" }

// newScratch returns a screen that discards its answers.
func newScratch(width, height int) *emulation {
	e := &emulation{emulator: vt.NewEmulator(width, height)}
	e.answerTo(io.Discard)
	return e
}

// looks returns the style and content of every cell.
func (e *emulation) looks() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]string, 0, e.emulator.Width()*e.emulator.Height())
	for y := range e.emulator.Height() {
		for x := range e.emulator.Width() {
			look := ""
			if c := e.emulator.CellAt(x, y); c != nil {
				look = c.Style.String() + c.Content
			}
			all = append(all, look)
		}
	}
	return all
}
