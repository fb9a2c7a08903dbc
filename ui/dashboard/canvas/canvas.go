// Package canvas draws the frames of a dashboard on a terminal, and sets the terminal's
// modes. It compares each frame with the one before, first by line and then by cell, and
// writes only the cells that differ.
//
// Bubble Tea runs the dashboard and reads the keys, but draws nothing: its own renderer
// compares every cell of each frame, and wakes 60 times a second even if there is none
// (charmbracelet/bubbletea, pull request 1776, would end the latter).
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

// By default at most burst frames are drawn within Pause, about 60 a second. A frame for
// a key is drawn at once even if data and the clock have just brought others.
const (
	Pause = 64 * time.Millisecond
	burst = 4
)

// smallFrame is the most bytes that any terminal shows at once, even if they are not
// marked as one frame.
const smallFrame = 100

// Config sets a canvas up. Out is required.
type Config struct {
	In      io.Reader // the keyboard; a terminal is set up to send each key, others are read as they are
	Out     io.Writer
	Environ []string      // TERM and others say what the terminal understands
	Pause   time.Duration // in which at most four frames are drawn; 0: [Pause]
}

// Canvas is the screen of a terminal. It is safe for use by several goroutines.
type Canvas struct {
	out     io.Writer
	console *console
	pause   time.Duration

	mu         sync.Mutex
	width      int
	height     int
	lines      []string // of the newest frame; nil before the first one of this size
	shown      []string // as the terminal shows them
	modes      Modes
	open       bool                           // between Enter and Leave: the alternate screen is on
	damaged    bool                           // what the terminal shows is unknown
	xterm      bool                           // the terminal erases and scrolls cells as xterm does
	old        bool                           // the terminal may print sequences that it does not know
	asks       bool                           // the terminal may be asked what it can do
	found      map[ansi.Mode]ansi.ModeSetting // how the terminal was before
	entered    time.Time                      // when the terminal was last taken over
	answers    bool                           // the terminal has answered something
	patience   time.Duration                  // how long its answers are waited for
	unanswered int                            // questions for the terminal's attributes
	graphemes  bool                           // the terminal can measure text by graphemes
	bracket    bool                           // the terminal can show a frame as a whole (synchronized output)
	drawn      [burst]time.Time               // when the last frames were drawn, the newest first
	late       *time.Timer                    // draws a frame that came too soon; nil before the first one
	waiting    bool                           // late is running

	cells   uv.ScreenBuffer // as the terminal shows them
	scratch uv.ScreenBuffer // one line
	changed []int           // numbers of the changed lines; kept to reuse its memory
	changes bytes.Buffer    // the sequences and text that change the cells
	frame   bytes.Buffer    // all that is written next
	pen     pen

	inScreen bool // GNU Screen is in between, and passes a text for the clipboard on only as such
	inFoot   bool // Foot measures by clusters, but adds up the letters of each
}

// New makes a canvas that leaves the terminal alone until [Canvas.Enter].
func New(cfg Config) *Canvas {
	c := &Canvas{out: cfg.Out, console: consoleOf(cfg.In, cfg.Out), pause: cmp.Or(cfg.Pause, Pause)}
	c.found, c.patience = map[ansi.Mode]ansi.ModeSetting{}, answersWithin
	environ := uv.Environ(cfg.Environ)
	c.xterm, c.old, c.asks = likeXterm(environ.Getenv("TERM")), oldTerminal(environ), answersFast(environ)
	c.pen = pen{erases: c.xterm, x: -1}
	c.inScreen = environ.Getenv("STY") != "" && environ.Getenv("TMUX") == ""
	c.inFoot = family(environ.Getenv("TERM")) == "foot"
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
	// Both methods measure a frame's text alike, but this one needs no table of 2 MB.
	c.cells.Method, c.scratch.Method = ansi.GraphemeWidth, ansi.GraphemeWidth
}

// Show draws a frame: as many lines as the screen is high, each of the same width in
// every terminal. A line may contain styles (SGR) and hyperlinks, but no other control
// sequences, and begins and ends in the default style. The fifth frame within a pause is
// drawn after it, unless a newer one replaces it.
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

// Clusters reports whether the terminal said that it measures text by clusters of characters.
func (c *Canvas) Clusters() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.graphemes && !c.inFoot
}

// Redraw draws the newest frame whole: another program may have written to the terminal.
func (c *Canvas) Redraw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready() {
		c.damaged = true
		_ = c.draw() // a terminal that is gone ends the program by a signal
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

// draw writes the changed cells, after what c.frame already holds.
func (c *Canvas) draw() error {
	c.changes.Reset()
	if c.damaged || len(c.shown) != len(c.lines) {
		c.repaint()
	} else {
		c.update()
	}
	bracketed := c.bracket && c.changes.Len() > smallFrame
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

// send writes c.frame to the terminal.
func (c *Canvas) send() (err error) {
	if c.frame.Len() > 0 {
		_, err = c.out.Write(c.frame.Bytes())
	}
	c.frame.Reset()
	return err
}

// repaint writes every line. How the terminal measures them is not known yet, so a line
// that it takes for longer must not wrap. If the terminal has grown, it may still have
// the scroll region of its old size.
func (c *Canvas) repaint() {
	c.pen.reset(&c.changes)
	if c.xterm {
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
