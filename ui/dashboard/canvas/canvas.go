// Package canvas puts frames on a terminal. It writes what differs from the frame
// before, cell by cell, and looks only at lines that are not the same text.
//
// The library that runs the dashboard has a renderer of its own, which takes apart
// and compares every cell of a screen for each frame: a millisecond and more at
// 200x60. It is left with what is no cell: the modes, the title, the progress and
// the clipboard. What it writes goes through [Canvas.Write], so that nothing comes
// between the bytes of a frame.
package canvas

import (
	"bytes"
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Pause is the least time between two frames, by default: 60 a second.
const Pause = 16 * time.Millisecond

// little is how many bytes a terminal takes in at once in any case.
const little = 100

// Config sets a canvas up. Out is required.
type Config struct {
	Out            io.Writer
	Environ        []string      // TERM decides what the terminal understands
	Pause          time.Duration // at least, between two frames; 0: [Pause]
	ReturnNewlines bool          // a line feed also returns the carriage: the terminal is not raw
}

// Canvas is the screen of a terminal. It is safe for use by several goroutines.
type Canvas struct {
	out   io.Writer
	pause time.Duration

	mu      sync.Mutex
	width   int
	height  int
	lines   []string // to be shown; nil before the first frame of this size
	shown   []string // as the terminal shows them
	open    bool     // the terminal is on its other screen, which is drawn on
	damaged bool     // nothing is known of what the terminal shows
	known   bool     // the terminal understands more than to move, to print and to erase all
	bracket bool     // the terminal shows a frame at once when told where it begins and ends
	drawn   time.Time
	late    *time.Timer // draws what came too soon; nil before the first such frame
	waiting bool        // for late
	closed  bool

	cells    uv.ScreenBuffer // as shown
	scratch  uv.ScreenBuffer // one line
	changed  []int           // lines, while a frame is drawn
	renderer *uv.TerminalRenderer
	changes  bytes.Buffer // what the renderer writes
	frame    bytes.Buffer // what is written at once
	pen      pen
}

// New makes a canvas that draws nothing before the terminal has been told to take
// its other screen, and a size is known.
func New(cfg Config) *Canvas {
	c := &Canvas{out: cfg.Out, pause: cmp.Or(cfg.Pause, Pause), damaged: true}
	c.known = knownTerminal(uv.Environ(cfg.Environ).Getenv("TERM"))
	c.renderer = uv.NewTerminalRenderer(&c.changes, cfg.Environ)
	c.renderer.SetColorProfile(colorprofile.TrueColor) // it takes nothing away: lines are in colours that the terminal has
	c.renderer.SetMapNewline(cfg.ReturnNewlines)
	c.renderer.SetFullscreen(true)
	c.renderer.SetRelativeCursor(false)
	return c
}

// Resize forgets what is shown. The next frame has the new size.
func (c *Canvas) Resize(width, height int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if width == c.width && height == c.height {
		return
	}
	method := c.cells.Method
	c.width, c.height, c.lines, c.damaged = width, height, nil, true
	c.cells, c.scratch = uv.NewScreenBuffer(width, height), uv.NewScreenBuffer(width, 1)
	c.cells.Method = method
	c.renderer.Resize(width, height)
}

// Learn takes the terminal's word for what it can do.
func (c *Canvas) Learn(mode ansi.Mode, setting ansi.ModeSetting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case mode == ansi.ModeSynchronizedOutput && setting == ansi.ModeReset:
		c.bracket = true
	case mode == ansi.ModeUnicodeCore && (setting.IsSet() || setting == ansi.ModeReset):
		c.cells.Method = ansi.GraphemeWidth
		c.renderer.SetGraphemeWidth(true)
	}
}

// Show draws a frame: as many lines as the screen is high, each as wide as it is,
// with no control sequences but SGR and hyperlinks, each beginning and ending in
// the terminal's own style. One that comes within a pause of the last is drawn
// after it, unless another overtakes it.
func (c *Canvas) Show(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(lines) != c.height {
		return
	}
	c.lines = lines
	rest := c.pause - time.Since(c.drawn)
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

func (c *Canvas) ready() bool { return c.open && !c.closed && c.lines != nil }

func (c *Canvas) drawLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if c.ready() {
		_ = c.draw()
	}
}

// Close draws nothing any more.
func (c *Canvas) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.late != nil {
		c.late.Stop()
	}
}

// Write passes on what the library has to tell the terminal. Where that empties
// the screen, the frame comes with it.
func (c *Canvas) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Contains(p, []byte(ansi.SetTabEvery8Columns)) {
		c.renderer.SetTabStops(c.width)
		c.renderer.SetBackspace(true)
	}
	enters := bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor))
	if enters {
		c.open, c.damaged = true, true
	}
	if bytes.Contains(p, []byte(ansi.ResetModeAltScreenSaveCursor)) {
		c.open = false
	}
	if bytes.Contains(p, []byte(ansi.EraseEntireScreen)) {
		c.damaged = true
	}
	c.renderer.SetPosition(-1, -1) // it may have moved the cursor
	c.frame.Reset()
	c.pen.reset(&c.frame)
	c.frame.Write(p)
	if enters && c.cells.Method == ansi.GraphemeWidth { // the library turns it off when it leaves, but never on again
		c.frame.WriteString(ansi.SetModeUnicodeCore)
	}
	var err error
	if c.damaged && c.ready() {
		err = c.draw()
	} else {
		_, err = c.out.Write(c.frame.Bytes())
	}
	c.frame.Reset()
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// draw writes what is different, after what is in the frame already.
func (c *Canvas) draw() error {
	from := c.frame.Len()
	c.frame.WriteString(ansi.SetModeSynchronizedOutput)
	began := c.frame.Len()
	repaint := c.damaged || len(c.shown) != len(c.lines)
	if repaint {
		c.repaint()
	} else {
		c.update()
	}
	if drawn := c.frame.Len() - began; !c.bracket || drawn <= little {
		frame := c.frame.Bytes()
		copy(frame[from:], frame[began:])
		c.frame.Truncate(from + drawn)
	} else {
		c.frame.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	var err error
	if c.frame.Len() > 0 {
		c.drawn = time.Now()
		_, err = c.out.Write(c.frame.Bytes())
	}
	c.frame.Reset()
	if repaint {
		c.adopt()
	}
	c.shown = c.lines
	return err
}

// repaint writes every line. Nothing is known of how the terminal
// measures what it is sent, so a line that it finds too long is not to wrap.
func (c *Canvas) repaint() {
	c.pen.reset(&c.frame)
	c.frame.WriteString(ansi.ResetStyle + ansi.ResetModeAutoWrap + ansi.EraseEntireScreen + ansi.CursorHomePosition)
	for y, line := range c.lines {
		if y > 0 {
			c.frame.WriteString("\r\n")
		}
		if c.known {
			writeShortened(&c.frame, line)
		} else {
			c.frame.WriteString(line)
		}
	}
	c.frame.WriteString(ansi.ResetStyle + ansi.SetModeAutoWrap)
}

// adopt has the renderer know what repaint has drawn. It comes after the writing:
// taking apart a whole screen takes longer than drawing it.
func (c *Canvas) adopt() {
	c.damaged = false
	for y := range c.lines {
		c.take(c.cells, y, y)
	}
	if !c.known {
		return
	}
	c.touchAll()
	c.renderer.Erase()
	c.renderer.Render(c.cells.RenderBuffer)
	_ = c.renderer.Flush() // into memory
	c.pen.write(&c.frame, c.changes.Bytes(), false)
	c.pen.held, c.pen.heldLink = uv.Style{}, "" // the terminal was sent nothing of that
	c.changes.Reset()
	c.frame.Reset()
	c.renderer.SetPosition(-1, -1)
}
