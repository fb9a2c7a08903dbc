// Package recording records the changes that a screen shows, plays them again, and
// streams them to a pipe.
//
// api/account/form/FORMAT.md describes the format: a header, the whole picture, and then
// changes. A player loads the whole recording.
//
// A recording leaves out what strangers must not see: see [account.Masked]. A player
// scrubs what it reads: the file may come from anyone.
package recording

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

const (
	// defaultLimit bounds a file, in bytes: months of a small shop, or hours of a very busy account.
	defaultLimit = 64 << 20
	// longest bounds the lines of a recording, in bytes: a player keeps them in memory.
	longest = 512 << 20
	// gather is how long changes are gathered into one: the resolution of a recording, and
	// what a crash loses.
	gather = 100 * time.Millisecond
)

// Recorder records the changes of a source, which it reads as a screen does: a slow disk
// makes its changes coarser, but delays nobody.
type Recorder struct {
	path   string
	limit  int64
	file   *os.File
	packed *form.Writer
	header form.Header
	lines  int // bytes, unpacked

	mu    sync.Mutex
	state State
}

// State is the progress of a recorder.
type State struct {
	Began time.Time
	Until time.Time // of the last written change
	Bytes int64     // of the file
	Full  bool      // it ended because the file reached its limit
	Err   error     // it ended because writing failed
}

// Length returns the recorded time.
func (s State) Length() time.Duration { return s.Until.Sub(s.Began) }

// Create begins a recording in a new file that only its owner can read. It fails if the
// file exists. The caller sets the header's Began, Environment, Account and size. limit
// bounds the file, in bytes; 0 means 64 MiB.
func Create(path string, h form.Header, limit int64) (*Recorder, error) {
	if h.Began.IsZero() {
		h.Began = time.Now()
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("recording to %s: the file exists, and is not overwritten: give another name, or "+
			"remove it", path)
	case err != nil:
		return nil, fmt.Errorf("%w, recording to %s", cause(err), path)
	}
	h.Kind = form.Recording
	return &Recorder{
		path: path, limit: limit, file: file, header: h, packed: form.NewWriter(file, gzip.DefaultCompression),
		state: State{Began: h.Began, Until: h.Began},
	}, nil
}

// Name sets the environment, if an answer has named it since Create. Call it before
// [Recorder.Run].
func (r *Recorder) Name(environment string, live bool) {
	r.header.Environment, r.header.Live = environment, live
}

// Path returns the path of the file.
func (r *Recorder) Path() string { return r.path }

// State returns the progress. It never blocks for long.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Run records until ctx ends, the file is full or writing fails, and closes the file.
// Only a failure to write is an error; a player can play the file up to there.
func (r *Recorder) Run(ctx context.Context, source account.Picture) (err error) {
	defer func() {
		if err != nil {
			r.file.Close()
			err = fmt.Errorf("the recording has ended: %w: %s", cause(err), r.path)
		}
		r.mu.Lock()
		r.state.Err, r.state.Bytes = err, r.packed.Bytes()
		r.mu.Unlock()
	}()
	if err := tell(ctx, source, r.header, r.put, r.written); err != nil {
		return err
	}
	return errors.Join(r.packed.EndPart(), r.file.Sync(), r.file.Close())
}

func (r *Recorder) put(line any) error {
	n, err := r.packed.Put(line)
	r.lines += n
	return err
}

// errFull ends a recording.
var errFull = errors.New("the file has reached its limit")

// written passes everything up to a moment to the operating system: a crash of the process
// loses nothing of it.
func (r *Recorder) written(until time.Time) error {
	if err := r.packed.Flush(); err != nil {
		return err
	}
	full := r.packed.Bytes() >= r.limit || r.lines >= longest-form.LongestLine
	r.mu.Lock()
	r.state.Until, r.state.Bytes, r.state.Full = until, r.packed.Bytes(), full
	r.mu.Unlock()
	if full {
		return errFull
	}
	return nil
}

// Stream writes lines to out until ctx ends or writing fails: the header, the whole
// picture, and changes as they happen. Each line is one write.
func Stream(ctx context.Context, source account.Picture, h form.Header, out io.Writer) error {
	h.Kind = form.Stream
	var line []byte
	put := func(v any) (err error) {
		if line, err = form.AppendLine(line[:0], v); err != nil {
			return err
		}
		_, err = out.Write(line)
		return err
	}
	return tell(ctx, source, h, put, func(time.Time) error { return nil })
}

// tell puts lines until ctx ends or something fails: the header, the whole picture, and
// changes as they happen, after each of which it calls written.
func tell(ctx context.Context, source account.Picture, h form.Header, put func(any) error,
	written func(time.Time) error) error {
	if h.Began.IsZero() {
		h.Began = time.Now()
	}
	h.Masked = account.Masked()
	if err := put(form.Begin(h)); err != nil {
		return err
	}
	last := h.Began.Round(0).UTC()
	steady := func(t time.Time) time.Time { // time in the file stands while a clock that was set back catches up
		if t = t.Round(0).UTC(); t.After(last) {
			last = t
		}
		return last
	}
	frames := account.FrameWriter{Detail: source.Intent, Put: func(f *account.Frame) error { return put(f) }}
	since, first := uint64(0), true
	write := func(c account.Changes) error {
		c.Whole = c.Whole && (first || since > 0) // an empty picture was whole, too
		c.At, since, first = steady(c.At), c.Version, false
		if err := frames.Write(&c); err != nil {
			return err
		}
		return written(c.At)
	}
	err := account.Follow(ctx, source, gather, write)
	if err == nil {
		err = write(source.Changes(since)) // the last changes
	}
	why := "closed"
	if errors.Is(err, errFull) {
		why, err = "full", nil
	}
	if err != nil {
		return err
	}
	return put(&account.Frame{At: steady(time.Now()), End: why})
}

// cause removes the path from an error: the caller names it already.
func cause(err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
