// Package canvas is the terminal of a dashboard: what it is told beside cells, and
// the cells. Of a frame it writes what differs from the one before, cell by cell,
// and looks only at lines that are not the same text.
//
// The library that runs the dashboard reads the keys and draws nothing: its own
// renderer takes apart every cell of the screen for each frame, and looks for one
// 60 times a second (charmbracelet/bubbletea, pull request 1776, would end the
// latter).
package canvas

import (
	"bytes"
	"cmp"
	"io"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Pause is, by default, the time in which no more than burst frames are drawn: 60 a
// second. One for a key, behind one that data brought and one of the clock, is
// drawn at once.
const (
	Pause = 64 * time.Millisecond
	burst = 4
)

// little is how many bytes a terminal takes in at once in any case.
const little = 100

// Config sets a canvas up. Out is required.
type Config struct {
	In      io.Reader // the keyboard; a terminal is set up to send each key, others are read as they are
	Out     io.Writer
	Environ []string      // TERM and others say what the terminal understands
	Pause   time.Duration // four frames in it, at most; 0: [Pause]
}

// Canvas is the screen of a terminal. It is safe for use by several goroutines.
type Canvas struct {
	out     io.Writer
	console *console
	pause   time.Duration

	mu        sync.Mutex
	width     int
	height    int
	lines     []string // to be shown; nil before the first frame of this size
	shown     []string // as the terminal shows them
	modes     Modes
	open      bool             // the terminal is on its other screen, which is drawn on
	damaged   bool             // nothing is known of what the terminal shows
	known     bool             // the terminal understands more than to move, to print and to erase all
	old       bool             // the terminal may print what it is told beside cells
	asks      string           // has the terminal say what it can do; "": it would not
	graphemes bool             // the terminal measures by graphemes when told to
	bracket   bool             // the terminal shows a frame at once when told where it begins and ends
	drawn     [burst]time.Time // the last frames, the newest first
	late      *time.Timer      // draws what came too soon; nil before the first such frame
	waiting   bool             // for late

	cells   uv.ScreenBuffer // as shown
	scratch uv.ScreenBuffer // one line
	changed []int           // lines, while a frame is drawn
	changes bytes.Buffer    // of cells
	frame   bytes.Buffer    // what is written at once
	pen     pen
}

// New makes a canvas that leaves the terminal alone until [Canvas.Enter].
func New(cfg Config) *Canvas {
	c := &Canvas{out: cfg.Out, console: consoleOf(cfg.In, cfg.Out), pause: cmp.Or(cfg.Pause, Pause)}
	environ := uv.Environ(cfg.Environ)
	c.known, c.old, c.asks = knownTerminal(environ.Getenv("TERM")), oldTerminal(environ), questions(environ)
	c.pen = pen{erases: c.known, x: -1}
	return c
}

// Resize forgets what is shown. The next frame has the new size.
func (c *Canvas) Resize(width, height int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if width == c.width && height == c.height {
		return
	}
	c.width, c.height, c.lines, c.damaged = width, height, nil, true
	c.cells, c.scratch = uv.NewScreenBuffer(width, height), uv.NewScreenBuffer(width, 1)
	// The two methods agree on what a frame holds. This one needs no table of 2 MB.
	c.cells.Method, c.scratch.Method = ansi.GraphemeWidth, ansi.GraphemeWidth
}

// Show draws a frame: as many lines as the screen is high, each as wide as it is in
// every terminal, with no control sequences but SGR and hyperlinks, each beginning and
// ending in the terminal's own style. The fifth within a pause is drawn after it, unless
// another overtakes it.
func (c *Canvas) Show(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(lines) != c.height {
		return
	}
	c.lines = lines
	rest := c.pause - time.Since(c.drawn[burst-1])
	switch {
	case c.waiting || !c.ready():
	case rest <= 0:
		_ = c.draw() // a terminal that is gone ends the program by a signal
	case c.late == nil:
		c.waiting = true
		c.late = time.AfterFunc(rest, c.drawLate)
	default:
		c.waiting = true
		c.late.Reset(rest)
	}
}

func (c *Canvas) ready() bool { return c.open && c.lines != nil }

func (c *Canvas) drawLate() {
	defer c.Rescue()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if c.ready() {
		_ = c.draw()
	}
}

// draw writes what is different, after what is in the frame already.
func (c *Canvas) draw() error {
	c.changes.Reset()
	if c.damaged || len(c.shown) != len(c.lines) {
		c.repaint()
	} else {
		c.update()
	}
	bracketed := c.bracket && c.changes.Len() > little
	if bracketed {
		c.frame.WriteString(ansi.SetModeSynchronizedOutput)
	}
	c.frame.Write(c.changes.Bytes())
	if bracketed {
		c.frame.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	if c.frame.Len() > 0 {
		copy(c.drawn[1:], c.drawn[:])
		c.drawn[0] = time.Now()
	}
	c.shown = c.lines
	return c.send()
}

// send writes what is in the frame.
func (c *Canvas) send() (err error) {
	if c.frame.Len() > 0 {
		_, err = c.out.Write(c.frame.Bytes())
	}
	c.frame.Reset()
	return err
}

// repaint writes every line. Nothing is known of how the terminal
// measures what it is sent, so a line that it finds too long is not to wrap. Where
// it grew before that was noticed, its margins may still be those of its old size.
func (c *Canvas) repaint() {
	c.pen.reset(&c.changes)
	if c.known {
		c.changes.WriteString(unbound)
	}
	c.changes.WriteString(ansi.ResetStyle + ansi.ResetModeAutoWrap + ansi.EraseEntireScreen)
	c.damaged = false
	for y := range c.lines {
		c.take(c.cells, y, y)
		c.pen.write(&c.changes, c.cells.Line(y), 0, c.width, y)
	}
	c.pen.reset(&c.changes)
	c.changes.WriteString(ansi.SetModeAutoWrap)
}
