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
	mu       *sync.Mutex
	terminal uv.Console // nil: none
}

func consoleOf(in io.Reader, out io.Writer) console {
	c := console{mu: new(sync.Mutex)}
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
	c.terminal = uv.NewConsole(input, output, nil)
	return c
}

// raw has the terminal send each key as it is pressed, and take control sequences.
func (c console) raw() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal == nil {
		return nil
	}
	_, err := c.terminal.MakeRaw()
	return err
}

// restore sets the terminal up as it was before raw.
func (c console) restore() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal == nil {
		return nil
	}
	return c.terminal.Restore()
}
