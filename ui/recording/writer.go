package recording

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// chapterFrom is the least size of a chapter's changes, in unpacked bytes. In a file they
// are also at least as large as its picture.
const chapterFrom = 1 << 20

// writer writes the file. It is not safe for concurrent use.
type writer struct {
	path    string
	file    *os.File
	packed  *form.Writer
	header  form.Header
	frames  account.FrameWriter
	last    time.Time // of the last line: time never goes back
	before  time.Time // what the clocks showed then
	begun   bool      // a chapter has begun
	picture int       // unpacked bytes of the chapter's picture
	changes int       // unpacked bytes since
}

// create creates the file, which must not exist, readable by its owner only.
func create(path string, h form.Header) (*writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("recording to %s: the file exists, and is not overwritten: give another name, or remove it", path)
	case err != nil:
		return nil, fmt.Errorf("%w, recording to %s", cause(err), path)
	}
	h.Kind, h.Masked = form.Recording, account.Masked()
	w := &writer{path: path, file: file, packed: form.NewWriter(file, gzip.DefaultCompression), header: h, last: h.Began.Round(0), before: h.Began}
	w.frames.Put = w.put
	return w, nil
}

// head writes the header.
func (w *writer) head() error {
	_, err := w.packed.Put(form.Begin(w.header))
	return errors.Join(err, w.packed.EndPart())
}

func (w *writer) put(f *account.Frame) error {
	n, err := w.packed.Put(f)
	w.changes += n
	return err
}

// chapterDue reports whether a new chapter should begin: the changes are larger than the
// chapter's picture.
func (w *writer) chapterDue() bool {
	return !w.begun || w.changes > max(chapterFrom, w.picture)
}

// chapter begins a chapter with the whole picture.
func (w *writer) chapter(c *account.Changes, detail func(api.ID) (*account.IntentDetail, bool)) error {
	if err := w.packed.EndPart(); err != nil {
		return err
	}
	w.begun, w.changes = true, 0
	err := w.write(c, detail, nil)
	w.picture, w.changes = w.changes, 0
	return err
}

// write writes what changed, if anything did.
func (w *writer) write(c *account.Changes, detail func(api.ID) (*account.IntentDetail, bool), marks []string) error {
	w.frames.Detail = detail
	at := *c
	at.At = w.moment(c.At)
	return w.frames.Write(&at, marks)
}

// moment returns a time for the file, without the monotonic clock: ages follow the wall
// clock, also on a machine that slept. If that is set back, time goes on from where it was.
func (w *writer) moment(t time.Time) time.Time {
	passed := max(t.Sub(w.before), 0)
	if w.before = t; w.last.Before(t.Round(0)) {
		w.last = t.Round(0)
	} else {
		w.last = w.last.Add(passed)
	}
	return w.last.UTC()
}

// flush passes everything to the operating system: a crash of the process loses nothing.
func (w *writer) flush() error { return errors.Join(w.packed.Flush(), w.there()) }

// ErrGone says that a recording cannot be played: its file no longer has what was written.
var ErrGone = errors.New("the file was removed, replaced or cut meanwhile")

// there checks that the path still leads to the file, and that all that was flushed is in it.
func (w *writer) there() error {
	own, err := w.file.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(w.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, now) || own.Size() < w.packed.Bytes() {
		return ErrGone
	}
	return nil
}

// end writes why nothing follows, and closes the file.
func (w *writer) end(at time.Time, why string) error {
	_, err := w.packed.Put(&account.Frame{At: w.moment(at), End: why})
	return errors.Join(err, w.packed.EndPart(), w.file.Sync(), w.there(), w.file.Close())
}
