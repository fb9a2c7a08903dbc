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
// file exists. The caller sets the header's Environment, Account and size. The file
// ends at 64 MiB.
func Create(path string, h form.Header) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("recording to %s: the file exists, and is not overwritten: give another name, or "+
			"remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	h.Kind, h.Began = form.Recording, time.Now()
	return &Recorder{
		path: path, limit: defaultLimit, file: file, header: h,
		packed: form.NewWriter(file, gzip.DefaultCompression), state: State{Began: h.Began, Until: h.Began},
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
func (r *Recorder) Run(ctx context.Context, source account.Picture) error {
	err := tell(ctx, source, r.header, r.packed.Put, r.written)
	if err = errors.Join(err, r.packed.EndPart(), r.file.Sync(), r.file.Close()); err != nil {
		err = fmt.Errorf("the recording has ended: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Err, r.state.Bytes = err, r.packed.Bytes()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Until, r.state.Bytes, r.state.Full = until, r.packed.Bytes(), r.packed.Bytes() >= r.limit
	if r.state.Full {
		return errFull
	}
	return nil
}

// Stream writes lines to out until ctx ends or writing fails: the header, the whole
// picture, and changes as they happen. Each line is one write.
func Stream(ctx context.Context, source account.Picture, h form.Header, out io.Writer) error {
	h.Kind, h.Began = form.Stream, time.Now()
	put := func(v any) (int, error) {
		line, err := form.AppendLine(nil, v)
		if err != nil {
			return 0, err
		}
		return out.Write(line)
	}
	return tell(ctx, source, h, put, func(time.Time) error { return nil })
}

// tell puts lines until ctx ends or something fails: the header, the whole picture, and
// changes as they happen, after each of which it calls written.
func tell(ctx context.Context, source account.Picture, h form.Header, put func(any) (int, error),
	written func(time.Time) error) error {
	h.Masked = account.Masked()
	if _, err := put(form.Begin(h)); err != nil {
		return err
	}
	last := h.Began.Round(0).UTC()
	steady := func(t time.Time) time.Time { // time in the file stands while a clock that was set back catches up
		if t = t.Round(0).UTC(); t.After(last) {
			last = t
		}
		return last
	}
	frames := account.FrameWriter{Detail: source.Intent, Put: func(f *account.Frame) error {
		_, err := put(f)
		return err
	}}
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
	if err == nil {
		_, err = put(&account.Frame{At: steady(time.Now()), End: why})
	}
	return err
}
