package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/vt"
)

// framePause parts two frames: a program writes one frame at once.
const framePause = 3 * time.Millisecond

// Drawn counts what a program drew in some time.
type Drawn struct {
	For    time.Duration
	Bytes  int
	Frames int // groups of chunks with a pause before them
	Cells  int // that looked different after a frame, summed over the frames
}

// Count looks at what was drawn after a moment, on a terminal of the given size.
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

// FirstPaint is when the first cell was not blank any more.
func FirstPaint(chunks []Chunk, width, height int) (at time.Duration, painted bool) {
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

// Painted says whether a screen's text has anything in it.
func Painted(text string) bool { return strings.TrimSpace(text) != "" }

// newScratch makes a screen whose answers go nowhere.
func newScratch(width, height int) *emulation {
	e := &emulation{emulator: vt.NewEmulator(width, height)}
	e.answerTo(io.Discard)
	return e
}

// looks describes every cell.
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
