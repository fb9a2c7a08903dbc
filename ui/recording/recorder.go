package recording

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// defaultLimit is the default bound of a recording, in bytes: about two weeks of a busy
// account.
const defaultLimit = 1 << 30

// gather is how long changes are gathered into one: the resolution of a recording.
const gather = 100 * time.Millisecond

// flushEvery is how much time is lost in a crash.
const flushEvery = time.Second

// Recorder records the changes of a source, which it reads as a screen does: a slow disk
// makes its changes coarser, but delays nobody.
type Recorder struct {
	path  string
	limit int64
	out   *writer
	marks marker

	mu    sync.Mutex
	state State
}

// State is the progress of a recorder.
type State struct {
	Began time.Time
	Until time.Time // of the last written change
	Bytes int64     // of the file
	Ended bool      // nothing more is recorded
	Full  bool      // it ended because the file reached its limit
	Err   error     // it ended because writing failed
}

// Length returns the recorded time.
func (s State) Length() time.Duration { return s.Until.Sub(s.Began) }

// Create begins a recording in a new file that only its owner can read. It fails if the
// file exists. The caller sets the header's Began, Environment, Account and size. limit
// bounds the file, in bytes; 0 means 1 GiB.
func Create(path string, h form.Header, limit int64) (*Recorder, error) {
	if h.Began.IsZero() {
		h.Began = time.Now()
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	out, err := create(path, h)
	if err != nil {
		return nil, err
	}
	return &Recorder{path: path, limit: limit, out: out, marks: marker{began: h.Began}, state: State{Began: h.Began, Until: h.Began}}, nil
}

// Name sets the environment, if an answer has named it since Create. Call it before
// [Recorder.Run].
func (r *Recorder) Name(environment string, live bool) {
	r.out.header.Environment, r.out.header.Live = environment, live
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
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			r.out.file.Close()
			err = fmt.Errorf("the recording has ended: %w: %s", cause(err), r.path)
		}
		r.mu.Lock()
		r.state.Ended, r.state.Err, r.state.Bytes = true, err, r.out.packed.Bytes()
		if err == nil {
			r.state.Until = r.out.last
		}
		r.mu.Unlock()
	}()
	if err = r.out.head(); err != nil {
		return err
	}
	var since uint64
	first := true
	var flushed time.Time
	pause := time.NewTimer(gather)
	defer pause.Stop()
	for {
		if since, err = r.record(source, since, first); err != nil {
			return err
		}
		first = false
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return r.out.end(now, "closed")
		case r.full():
			return r.stop(now)
		case now.Sub(flushed) >= flushEvery:
			if err = r.out.flush(); err != nil {
				return err
			}
			flushed = now
		}
		pause.Reset(gather)
		select {
		case <-ctx.Done():
			continue // to record the last changes
		case <-pause.C:
		}
		if err = r.await(ctx, source, since, flushed); err != nil {
			return err
		}
	}
}

// record writes what changed since a version, and the whole picture if a chapter is due.
// It returns the new version.
func (r *Recorder) record(source account.Picture, since uint64, first bool) (uint64, error) {
	c := source.Changes(since)
	marks := r.marks.of(&c, first)
	if !first {
		if err := r.out.write(&c, source.Intent, marks); err != nil {
			return since, err
		}
	}
	if r.out.chapterDue() {
		if !first {
			// The picture includes changes since the last line; a player compares.
			c = source.Changes(0)
			r.marks.of(&c, false)
		}
		if err := r.out.chapter(&c, source.Intent); err != nil {
			return since, err
		}
	}
	r.mu.Lock()
	r.state.Until, r.state.Bytes = r.out.last, r.out.packed.Bytes()
	r.mu.Unlock()
	return c.Version, nil
}

// await waits for a change, and flushes meanwhile.
func (r *Recorder) await(ctx context.Context, source account.Picture, since uint64, flushed time.Time) error {
	soon, cancel := context.WithDeadline(ctx, flushed.Add(flushEvery))
	err := source.Wait(soon, since)
	cancel()
	if err == nil || ctx.Err() != nil {
		return nil
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waiting for changes: %w", err)
	}
	if err := r.out.flush(); err != nil {
		return err
	}
	if err := source.Wait(ctx, since); err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for changes: %w", err)
	}
	return nil
}

func (r *Recorder) full() bool { return r.out.packed.Bytes() >= r.limit }

func (r *Recorder) stop(now time.Time) error {
	r.mu.Lock()
	r.state.Full = true
	r.mu.Unlock()
	return r.out.end(now, "full")
}
