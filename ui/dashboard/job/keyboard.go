package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tillwatch/ui/dashboard/action"
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
	work    sync.WaitGroup
	err     error
	pasting atomic.Bool   // the beginning of a paste was read, but not its end
	unended *time.Timer   // runs while a paste waits for more
	waited  time.Duration // how long a paste has waited, less what its bytes may take
	paste   pasted
	read    []byte // the part of the paste that was not passed on yet
}

// KeysMsg brings the keys that wait, so that the screen is drawn once for all of them.
type KeysMsg []tea.KeyPressMsg

// mostKeys is the most keys of a [KeysMsg].
const mostKeys = 4096

// UnendedPasteMsg says that the end of a paste is missing: [Keyboard.Renew] drops the paste.
type UnendedPasteMsg struct{}

// The reader takes everything after the beginning of a paste for pasted text: if the end were
// lost, no key would count again.
const (
	unendedAfter = 2 * time.Second       // how long a paste may pause
	longestPaste = 10 * time.Second      // how long it may wait in all: typed keys must not keep it open
	slowestByte  = 10 * time.Millisecond // how much longer it may wait for each byte, on a slow line
)

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
	r, events := &reading{reader: cancellable}, make(chan uv.Event, mostKeys)
	r.unended = time.AfterFunc(unendedAfter, func() { k.send(UnendedPasteMsg{}) })
	r.unended.Stop()
	k.now = r
	var in io.Reader = r
	if !followsSize { // Windows: its reader takes keys from nothing else
		in = r.reader
	}
	r.work.Go(func() {
		defer close(events)
		r.err = uv.NewTerminalReader(in, k.term).StreamEvents(context.Background(), events)
	})
	r.work.Go(func() {
		k.pass(r, events)
		if r.unended.Stop(); r.err != nil {
			k.send(tea.Quit())
		}
	})
	return nil
}

// pass sends what was read, and all keys that wait as one message.
func (k *Keyboard) pass(r *reading, events <-chan uv.Event) {
	var keys KeysMsg
	foreign := false // the last letter was not Latin
	for e := range events {
		key, ok := e.(uv.KeyPressEvent)
		if unicode.IsLetter(key.Code) {
			foreign = action.OfAnotherScript(key.Code)
		}
		if ok && !modifies(key) {
			keys = append(keys, placed(key, foreign))
		}
		if len(keys) > 0 && (!ok || len(events) == 0 || len(keys) == mostKeys) {
			k.send(keys)
			keys = nil
		}
		switch event := e.(type) {
		case uv.KeyPressEvent:
			continue
		case uv.WindowSizeEvent:
			if followsSize && IsTerminal(k.in) {
				continue // answers somebody else's question
			}
		case uv.PasteEvent:
			e = cut(event)
		case uv.PasteStartEvent:
			r.pasting.Store(true)
			r.unended.Reset(unendedAfter)
		case uv.PasteEndEvent:
			r.pasting.Store(false)
			r.unended.Stop()
		}
		k.send(e)
	}
}

// Read implements [io.Reader] for the reader of keys.
func (r *reading) Read(into []byte) (int, error) {
	for len(r.read) == 0 {
		n, err := r.whole(into)
		if r.read = r.paste.bound(into[:n]); len(r.read) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(into, r.read)
	r.read = r.read[n:]
	return n, nil
}

// whole reads only whole control sequences and characters: if the rest of one came late,
// the reader of keys would take it for other keys.
func (r *reading) whole(into []byte) (n int, err error) {
	room := len(into) - utf8.UTFMax // the rest is for a character that would be cut there
	for err == nil && (n == 0 || n < room && unfinished.Match(into[:n]) || cutCharacter(into[:n])) {
		var more int
		more, err = r.some(into[n:max(room, n+1)])
		n += more
	}
	return n, err
}

// cutCharacter reports whether what was read ends within a character.
func cutCharacter(read []byte) bool {
	for at := len(read) - 1; at >= max(len(read)-utf8.UTFMax, 0); at-- {
		if utf8.RuneStart(read[at]) {
			return !utf8.FullRune(read[at:])
		}
	}
	return false
}

// some reads once. It limits how long a paste waits for that.
func (r *reading) some(into []byte) (n int, err error) {
	pasting := r.pasting.Load()
	if pasting {
		r.unended.Reset(max(min(unendedAfter, longestPaste-r.waited), 0))
	} else {
		r.waited = 0
	}
	began := time.Now()
	n, err = r.reader.Read(into)
	r.unended.Stop()
	if pasting {
		r.waited = max(r.waited+time.Since(began)-time.Duration(n)*slowestByte, 0)
	}
	return n, err
}

// mostAnswered is the greatest length of a colour in an answer, in bytes.
const mostAnswered = 40

// unfinished matches a control sequence, or the terminal's answer about one of its
// colours, that lacks its end. It does not match a sequence without a parameter, which
// could also be a key that was pressed together with alt. In an answer it matches only
// the characters of a colour: if the end were lost, no key would count again.
var unfinished = regexp.MustCompile(fmt.Sprintf(
	`\x1b\[[0-?]+[ -/]*$|\x1b\]1[0-2];[#rgba:0-9A-Fa-f/]{0,%d}\x1b?$`, mostAnswered))

// Renew returns the command that drops a paste without an end and reads on.
func (k *Keyboard) Renew() tea.Cmd {
	return func() tea.Msg {
		if errors.Join(k.Give(), k.Take()) != nil {
			return tea.Quit()
		}
		return nil
	}
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
