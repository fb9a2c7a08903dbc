package canvas

import (
	"io"
	"regexp"
	"runtime"
	"sync"
	"time"

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

// readable reports whether the terminal's answers can be read here. On Windows, they do not
// come as bytes.
func (c *console) readable() bool { return c.terminal != nil && runtime.GOOS != "windows" }

const (
	// answersWithin is how long a terminal's answers are waited for if it is not known to be slower.
	answersWithin = time.Second
	// longestAnswer bounds that for any terminal: nobody waits longer for a program to end.
	longestAnswer = 4 * time.Second
)

var attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)

// await reads what the terminal sends until it has told its attributes so many times: in what
// it sends, that follows all earlier answers, reports of the mouse, and keys. It returns false
// if the terminal has not told them in time.
func (c *console) await(times int, within time.Duration) (sent []uv.Event, ok bool) {
	reader, err := uv.NewCancelReader(c.input)
	if err != nil {
		return nil, false
	}
	defer reader.Close()
	enough := time.AfterFunc(within, func() { reader.Cancel() })
	defer enough.Stop()
	var read []byte
	told := func() bool { return len(attributes.FindAll(read, times)) == times }
	for buffer := make([]byte, 4096); err == nil && !told() && len(read) < mostAwaited; {
		var n int
		n, err = reader.Read(buffer)
		read = append(read, buffer[:n]...)
	}
	ok = told()
	for decoder := (uv.EventDecoder{}); len(read) > 0; {
		n, event := decoder.Decode(read)
		sent, read = append(sent, event), read[max(n, 1):]
	}
	return sent, ok
}

// mostAwaited bounds what is read: more is no answer.
const mostAwaited = 64 << 10

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
