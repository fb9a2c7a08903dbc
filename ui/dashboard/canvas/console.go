package canvas

import (
	"io"
	"runtime"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
)

// console is how the system sets a terminal up. What is read from elsewhere has
// none.
type console struct {
	mu       sync.Mutex
	input    uv.File
	terminal uv.Console  // nil: none
	before   *term.State // of input, as it was before raw; nil before that
}

func consoleOf(in io.Reader, out io.Writer) *console {
	c := &console{}
	input, reads := in.(uv.File)
	output, writes := out.(uv.File)
	if !reads || !term.IsTerminal(input.Fd()) {
		return c
	}
	if !writes || !term.IsTerminal(output.Fd()) {
		if runtime.GOOS == "windows" { // where both are set up together
			return c
		}
		output = input
	}
	c.input, c.terminal = input, uv.NewConsole(input, output, nil)
	return c
}

// raw has the terminal send each key as it is pressed, and take control sequences.
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

// asBefore sets the keyboard up as it was before the last raw, whoever has changed
// that since.
func (c *console) asBefore() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before == nil {
		return nil
	}
	return term.Restore(c.input.Fd(), c.before)
}

// restore sets the terminal up as it was before raw.
func (c *console) restore() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal == nil {
		return nil
	}
	return c.terminal.Restore()
}
