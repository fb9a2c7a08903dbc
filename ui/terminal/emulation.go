package terminal

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"sync"

	"github.com/charmbracelet/x/vt"
	"github.com/lucasb-eyer/go-colorful"
)

// emulation is the screen of a terminal.
type emulation struct {
	mu       sync.Mutex
	emulator *vt.Emulator
	answers  chan struct{} // closed when no answer can follow; nil before answerTo
}

func newEmulation(o Options) (*emulation, error) {
	e := &emulation{emulator: vt.NewEmulator(o.Width, o.Height)}
	foreground, background := color.Color(color.RGBA{0xd0, 0xd0, 0xd0, 0xff}), color.Color(color.RGBA{0x11, 0x11, 0x16, 0xff})
	if o.Ground != "" {
		ground, err := colorful.Hex(o.Ground)
		if err != nil {
			return nil, fmt.Errorf("background %q is not a colour such as #fdf6e3: %w", o.Ground, err)
		}
		background = ground
		if lightness, _, _ := ground.Lab(); lightness > 0.5 {
			foreground = color.RGBA{0x20, 0x20, 0x20, 0xff}
		}
	}
	e.emulator.SetDefaultForegroundColor(foreground)
	e.emulator.SetDefaultBackgroundColor(background)
	return e, nil
}

// answerTo sends the terminal's answers to queries to w until close.
func (e *emulation) answerTo(w io.Writer) {
	e.answers = make(chan struct{})
	go func() {
		defer close(e.answers)
		_, _ = io.Copy(w, e.emulator)
	}()
}

func (e *emulation) write(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.emulator.Write(p)
}

func (e *emulation) resize(width, height int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.emulator.Resize(width, height)
}

func (e *emulation) close() {
	if closer, ok := e.emulator.InputPipe().(io.Closer); ok {
		_ = closer.Close()
	}
	if e.answers != nil {
		<-e.answers
	}
}

// Text returns the text of the emulated screen, one line for each row.
func (t *Terminal) Text() string {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	return t.screen.emulator.String()
}

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
