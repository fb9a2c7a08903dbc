package recording

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// The beginning of a packed part: a gzip member that carries a field of its own,
// so that the next part is found behind a damaged one.
var partExtra = []byte{'T', 'W', 4, 0, 'r', 'e', 'c', '1'}

// Bounds of what is written.
const (
	lineAbout   = 256 << 10 // a line ends once it is so long
	largestItem = 4 << 20   // what is larger is left out
	chapterFrom = 1 << 20   // a chapter holds at least so much, and at least as many changes as its picture
)

// writer writes the file. It is used by one goroutine.
type writer struct {
	file    *counted
	part    *gzip.Writer
	began   time.Time
	last    int64 // the moment of the last line: time never goes back
	summary summarizer
	intents intentWriter
	picture int // bytes of the picture at the chapter's beginning
	changes int // bytes since
	line    []byte
	frame   lineForm
	size    int // of what the frame holds
}

// counted counts what goes into the file.
type counted struct {
	*os.File
	bytes int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.bytes += int64(n)
	return n, err
}

// create makes the file, which must not be there yet, for its owner alone.
func create(path string, h Header) (*writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("recording to %s: it is there already, and nothing is overwritten: give another name, or remove it", path)
	case err != nil:
		return nil, fmt.Errorf("recording to %s: %w", path, errors.Unwrap(err))
	}
	w := &writer{file: &counted{File: file}, began: h.Began}
	if err := w.begin(h); err != nil {
		file.Close()
		os.Remove(path)
		return nil, fmt.Errorf("recording to %s: %w", path, err)
	}
	return w, nil
}

func (w *writer) begin(h Header) error {
	object, err := h.encode()
	if err != nil {
		return fmt.Errorf("encoding the header: %w", err)
	}
	w.open()
	if err := w.put(object); err != nil {
		return err
	}
	return w.close()
}

// open begins a packed part.
func (w *writer) open() {
	w.part, _ = gzip.NewWriterLevel(w.file, gzip.DefaultCompression) // the level is a valid one
	w.part.Extra = partExtra
}

// close ends it.
func (w *writer) close() error {
	if w.part == nil {
		return nil
	}
	err := w.part.Close()
	w.part = nil
	return err
}

func (w *writer) put(object []byte) error {
	w.line = appendLine(w.line[:0], object)
	w.changes += len(w.line)
	_, err := w.part.Write(w.line)
	return err
}

// chapterDue reports whether the next change is better told as a whole picture.
func (w *writer) chapterDue() bool {
	return w.part == nil || w.changes > max(chapterFrom, w.picture)
}

// chapter begins a chapter with the whole picture.
func (w *writer) chapter(c *account.Changes, ask asker) error {
	if err := w.close(); err != nil {
		return err
	}
	w.open()
	w.changes = 0
	w.summary.forget()
	w.intents = intentWriter{seed: maphash.MakeSeed(), told: map[api.ID]uint64{}}
	err := w.tell(c, ask, nil, true)
	w.picture, w.changes = w.changes, 0
	return err
}

// change writes what changed; nothing, where nothing did.
func (w *writer) change(c *account.Changes, ask asker, marks []Kind) error {
	return w.tell(c, ask, marks, false)
}

// asker tells all that is known of an intent.
type asker func(api.ID) (*account.IntentDetail, bool)

func (w *writer) tell(c *account.Changes, ask asker, marks []Kind, picture bool) error {
	w.frame = lineForm{At: w.moment(c.At), Marks: marks, Picture: picture, Skipped: c.EventsSkipped}
	w.size = 0
	var err error
	if w.frame.Summary, err = w.summary.encode(&c.Summary); err != nil {
		return err
	}
	w.size += len(w.frame.Summary)
	for _, in := range c.Intents {
		all, ok := ask(in.ID)
		if !ok {
			all = &account.IntentDetail{Intent: *in}
		}
		again, err := w.intents.again(all)
		if err != nil {
			return err
		}
		if again != nil {
			w.frame.Again = append(w.frame.Again, *again)
			w.size += len(all.ID)
			continue
		}
		if err := add(w, &w.frame.Intents, all, encodeIntent); err != nil {
			return err
		}
	}
	for _, s := range c.Shipments {
		if err := add(w, &w.frame.Shipments, s, encodeShipment); err != nil {
			return err
		}
	}
	for _, e := range c.Events {
		if err := add(w, &w.frame.Events, e, encodeEvent); err != nil {
			return err
		}
	}
	for i := range c.Requests {
		if err := add(w, &w.frame.Requests, &c.Requests[i], encodeRequest); err != nil {
			return err
		}
	}
	if w.size == 0 && !picture && len(marks) == 0 && c.EventsSkipped == 0 {
		return nil
	}
	return w.flushFrame(false)
}

// intentWriter remembers what the chapter told of each intent.
type intentWriter struct {
	seed maphash.Seed
	told map[api.ID]uint64
}

// again returns the short form of an intent of which nothing but reads is new;
// nil when there is more to tell.
func (w *intentWriter) again(in *account.IntentDetail) (*againForm, error) {
	form, err := intentFormOf(in)
	if err != nil {
		return nil, err
	}
	form.ReadAt, form.Reads = instant{}, 0
	raw, err := json.Marshal(form)
	if err != nil {
		return nil, fmt.Errorf("encoding an intent: %w", err)
	}
	now := maphash.Bytes(w.seed, raw)
	before, known := w.told[in.ID]
	w.told[in.ID] = now
	if !known || before != now {
		return nil, nil
	}
	return &againForm{string(in.ID), instant(in.ReadAt), in.Reads}, nil
}

// add puts an item into the line, and begins another line where it is full.
func add[T any](w *writer, list *[]json.RawMessage, item T, encode func(T) (json.RawMessage, error)) error {
	raw, err := encode(item)
	if err != nil {
		return err
	}
	if len(raw) > largestItem {
		w.frame.LeftOut++
		return nil
	}
	if w.size > lineAbout {
		if err := w.flushFrame(true); err != nil {
			return err
		}
	}
	*list = append(*list, raw)
	w.size += len(raw) + 1
	return nil
}

func (w *writer) flushFrame(more bool) error {
	w.frame.More = more
	object, err := json.Marshal(&w.frame)
	if err != nil {
		return fmt.Errorf("encoding a line: %w", err)
	}
	w.frame = lineForm{At: w.frame.At}
	w.size = 0
	return w.put(object)
}

// moment is a time as the file counts it.
func (w *writer) moment(t time.Time) int64 {
	// Without the monotonic clock: ages are those of the wall clock, also of a
	// machine that slept.
	w.last = max(w.last, t.Round(0).Sub(w.began.Round(0)).Milliseconds())
	return w.last
}

// flush hands everything to the operating system, so that the end of the process
// loses nothing.
func (w *writer) flush() error {
	if w.part == nil {
		return nil
	}
	return w.part.Flush()
}

// end writes why nothing follows, and closes the file.
func (w *writer) end(at time.Time, why string) error {
	if w.part == nil {
		w.open()
	}
	object, err := json.Marshal(&lineForm{At: w.moment(at), End: why})
	if err == nil {
		err = w.put(object)
	}
	return errors.Join(err, w.close(), w.file.Sync(), w.file.Close())
}
