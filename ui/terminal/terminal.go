// Package terminal runs a program on a terminal, types keys, and keeps every byte that
// the program draws, with its time. It is for pictures and measurements of the screen.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Options configures a terminal.
type Options struct {
	Width, Height int      // in cells; default 120x36
	Env           []string // added to the process's environment; later ones win
	Light         bool     // whether its background is white, not dark
}

// patience is how long [Terminal.Wait] waits before it kills the program.
const patience = time.Minute

// Chunk is the result of one read.
type Chunk struct {
	At    time.Duration // since the program was started
	Bytes []byte
}

// Terminal is a running program with its terminal. Close must be called.
type Terminal struct {
	command *exec.Cmd
	file    *os.File
	began   time.Time
	screen  *screen
	read    chan struct{}
	exited  chan struct{}
	status  error

	mu      sync.Mutex
	chunks  []Chunk
	painted time.Duration // when the first cell was drawn; 0 before
	arrived chan struct{} // closed and replaced with every chunk
}

// Start runs a program, which is killed when ctx ends.
func Start(ctx context.Context, o Options, program string, args ...string) (*Terminal, error) {
	if o.Width <= 0 || o.Height <= 0 {
		o.Width, o.Height = 120, 36
	}
	t := &Terminal{arrived: make(chan struct{}), read: make(chan struct{}), exited: make(chan struct{})}
	t.command = exec.CommandContext(ctx, program, args...)
	t.command.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}, o.Env...)...)
	t.began = time.Now()
	file, err := pty.StartWithSize(t.command, &pty.Winsize{Rows: uint16(o.Height), Cols: uint16(o.Width)})
	if err != nil {
		return nil, fmt.Errorf("start %s on a terminal: %w", program, err)
	}
	t.file, t.screen = file, newScreen(o.Width, o.Height, file)
	if o.Light {
		t.screen.colour(color.White, color.Gray{0x20})
	}
	go t.receive()
	go func() {
		defer close(t.exited)
		t.status = t.command.Wait()
	}()
	return t, nil
}

// receive keeps the output until the program closes its terminal.
func (t *Terminal) receive() {
	defer close(t.read)
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buffer)
		if n > 0 {
			t.keep(Chunk{At: time.Since(t.began), Bytes: slices.Clone(buffer[:n])})
		}
		if err != nil { // Linux reports the end as an input/output error
			return
		}
	}
}

func (t *Terminal) keep(c Chunk) {
	t.screen.write(c.Bytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chunks = append(t.chunks, c)
	if t.painted == 0 && Painted(t.screen.text()) {
		t.painted = c.At
	}
	close(t.arrived)
	t.arrived = make(chan struct{})
}

// Chunks returns the output so far, and a channel that is closed once there is more.
func (t *Terminal) Chunks() ([]Chunk, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chunks[:len(t.chunks):len(t.chunks)], t.arrived
}

// FirstPaint returns when the first cell was drawn, from the start; 0 if none was.
func (t *Terminal) FirstPaint() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.painted
}

// Now returns the time since the program was started.
func (t *Terminal) Now() time.Duration { return time.Since(t.began) }

// Text returns the text of the screen, one line for each row.
func (t *Terminal) Text() string { return t.screen.text() }

// WaitFor returns once shown accepts the text of the screen, the program ends, or ctx
// ends.
func (t *Terminal) WaitFor(ctx context.Context, shown func(text string) bool) error {
	for {
		_, more := t.Chunks()
		if shown(t.Text()) {
			return nil
		}
		select {
		case <-more:
		case <-t.read:
			return fmt.Errorf("the program ended: %w", io.ErrUnexpectedEOF)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Done returns a channel that is closed when the program and all that it left on its
// terminal have ended.
func (t *Terminal) Done() <-chan struct{} { return t.read }

// Process returns the process id of the program.
func (t *Terminal) Process() int { return t.command.Process.Pid }

// Type sends keys as a terminal would.
func (t *Terminal) Type(keys string) error {
	if _, err := io.WriteString(t.file, keys); err != nil {
		return fmt.Errorf("type %q: %w", keys, err)
	}
	return nil
}

// Resize changes the size of the terminal; the program gets a signal.
func (t *Terminal) Resize(width, height int) error {
	t.screen.resize(width, height)
	if err := pty.Setsize(t.file, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		return fmt.Errorf("resize to %dx%d: %w", width, height, err)
	}
	return nil
}

// Close terminates the program and waits until it has ended. It returns the program's
// error.
func (t *Terminal) Close() error {
	if err := t.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return t.Wait()
}

// Wait waits for the program to end, and kills it after a minute. It returns the
// program's error.
func (t *Terminal) Wait() error {
	select {
	case <-t.exited:
	case <-time.After(patience):
		_ = t.command.Process.Kill()
		<-t.exited
	}
	// Closing the terminal drops unread output. A process that the program left behind
	// may hold the terminal open.
	select {
	case <-t.read:
	case <-time.After(time.Second):
	}
	_ = t.file.Close()
	<-t.read
	t.screen.close()
	return t.status
}
