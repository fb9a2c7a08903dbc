package job

import (
	"context"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// Keyboard reads what is typed at the terminal. Bubble Tea would read it as well, but
// nobody can wait for its reader: a key after the end of the program blocks it for ever,
// and it is closed while it reads. The zero Keyboard has no terminal.
type Keyboard struct {
	in   io.Reader
	term string // TERM
	send func(tea.Msg)

	mu    sync.Mutex
	given int      // how often it was given away; while above 0, nobody reads
	now   *reading // the present reader; nil: nobody reads
	err   error    // why reading failed; nil: it did not
}

// reading is the work of one reader.
type reading struct {
	reader interface {
		io.ReadCloser
		Cancel() (ends bool)
	}
	work sync.WaitGroup
	err  error
}

// NewKeyboard returns the keyboard of the terminal behind in. Nobody reads it until
// [Keyboard.Take]. send may block as long as the program runs.
func NewKeyboard(in io.Reader, term string, send func(tea.Msg)) *Keyboard {
	return &Keyboard{in: in, term: term, send: send, given: 1}
}

// Take takes the keyboard back after [Keyboard.Give], and reads it again once nobody else
// has it.
func (k *Keyboard) Take() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.given--; k.given > 0 || k.in == nil {
		return nil
	}
	cancellable, err := uv.NewCancelReader(k.in)
	if err != nil {
		return fmt.Errorf("reading the keys: %w", err)
	}
	r, events := &reading{reader: cancellable}, make(chan uv.Event)
	k.now = r
	r.work.Go(func() {
		defer close(events)
		r.err = uv.NewTerminalReader(r.reader, k.term).StreamEvents(context.Background(), events)
	})
	r.work.Go(func() {
		for e := range events {
			if _, size := e.(uv.WindowSizeEvent); size && followsSize && IsTerminal(k.in) {
				continue // answers somebody else's question
			}
			k.send(e)
		}
		if r.err != nil {
			k.send(tea.Quit())
		}
	})
	return nil
}

// Give gives the keyboard away: when it returns, everything read was sent, and nothing
// more is read. Only an input that cannot be interrupted, which no terminal is, is read
// until its next key, which is lost.
func (k *Keyboard) Give() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given++
	r := k.now
	k.now = nil
	if r == nil || !r.reader.Cancel() {
		return k.err
	}
	r.work.Wait()
	_ = r.reader.Close()
	if r.err != nil {
		k.err = fmt.Errorf("reading the keys: %w", r.err)
	}
	return k.err
}
