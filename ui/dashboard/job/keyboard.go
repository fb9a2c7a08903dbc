package job

import (
	"context"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// Keyboard tells a program what is typed at its terminal. The library would read it
// as well, but cannot be waited for: a key that comes when the program has ended
// holds its reader for ever, which is then closed while it reads. The zero Keyboard
// has no terminal.
type Keyboard struct {
	in   io.Reader
	term string // what the environment calls the terminal
	tell func(tea.Msg)

	mu    sync.Mutex
	given int      // how many have it instead; nobody reads meanwhile
	now   *reading // nil: nobody reads
	err   error    // why reading failed; nil: it has not
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

// NewKeyboard makes the keyboard of the terminal behind in, which is not read until
// the program takes it. tell may wait for the program while that runs.
func NewKeyboard(in io.Reader, term string, tell func(tea.Msg)) *Keyboard {
	return &Keyboard{in: in, term: term, tell: tell, given: 1}
}

// Take takes the keyboard back that was given away, and has it read once nobody
// else has it.
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
			k.tell(e)
		}
		if r.err != nil {
			k.tell(tea.Quit())
		}
	})
	return nil
}

// Give gives the keyboard away: once it returns, the program has been told all that
// was read, and nothing more is read. Only what cannot be interrupted, which no
// terminal is, goes on until its next key, and that is lost.
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
