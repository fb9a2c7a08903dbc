package canvas

import (
	"io"
	"runtime"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
)

// console sets up a terminal through the operating system. It does nothing if the input
// is not a terminal.
type console struct {
	mu       sync.Mutex
	input    uv.File
	terminal uv.Console  // nil: none
	before   *term.State // input's state before raw; nil before that
}

func consoleOf(in io.Reader, out io.Writer) *console {
	c := &console{}
	input, reads := in.(uv.File)
	output, writes := out.(uv.File)
	if !reads || !term.IsTerminal(input.Fd()) {
		return c
	}
	if !writes || !term.IsTerminal(output.Fd()) {
		if runtime.GOOS == "windows" { // sets both up together
			return c
		}
		output = input
	}
	c.input, c.terminal = input, uv.NewConsole(input, output, nil)
	return c
}

// raw makes the terminal send each key as it is pressed, and interpret control
// sequences.
func (c *console) raw() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal == nil {
		return nil
	}
	before, err := c.terminal.MakeRaw()
	if err == nil {
		c.before = before
	}
	return err
}

// asBefore restores the keyboard's state from before the last raw, even if another
// program has changed it since.
func (c *console) asBefore() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before == nil {
		return nil
	}
	return term.Restore(c.input.Fd(), c.before)
}

// restore restores the terminal's state from before raw.
func (c *console) restore() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal == nil {
		return nil
	}
	return c.terminal.Restore()
}
