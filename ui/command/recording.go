package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// records are the recordings of a session, at most one at a time. They implement [dashboard.Recording].
type records struct {
	session       *session.Session
	file          string // of --record; the next ones stand beside it. "": they go into the folder
	folder        string
	width, height int // of the screen

	starting sync.Mutex // held while one is started
	ended    bool       // no more are started
	mu       sync.Mutex
	all      []*record // the last may still run
}

// record is one recording.
type record struct {
	*recording.Recorder
	end  context.CancelFunc
	done chan struct{} // closed once it has ended
	seen bool          // a person ended it, and saw the result
}

// recordsOf prepares a session's recordings, and starts one if --record is given. finish ends them.
func recordsOf(s *session.Session, o screenOptions, out io.Writer) (*records, error) {
	r := &records{session: s, file: o.record, folder: o.folder(s.Settings), width: o.width, height: o.height}
	if w, h := terminalSize(out); w > 0 && !o.plain {
		r.width, r.height = w, h
	}
	if r.file == "" {
		return r, nil
	}
	return r, usage(r.begin(r.file))
}

// begin records to a new file, from the whole picture on.
func (r *records) begin(path string) error {
	h := r.session.Header()
	h.Width, h.Height = r.width, r.height
	recorder, err := recording.Create(path, h)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	one := &record{Recorder: recorder, end: end, done: make(chan struct{})}
	r.mu.Lock()
	r.all = append(r.all, one)
	r.mu.Unlock()
	go func() { // finish waits for it
		defer close(one.done)
		defer end()
		if r.session.Restored() != nil {
			return // the session fails
		}
		r.session.AwaitEnvironment(ctx)
		where := r.session.Client.Environment()
		one.Name(where.Name, where.Live)
		_ = one.Run(ctx, r.session.Store) // its state has the error
	}()
	return nil
}

// last is the newest recording; nil: there is none, or a person has ended it.
func (r *records) last() *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 || r.all[len(r.all)-1].seen {
		return nil
	}
	return r.all[len(r.all)-1]
}

// State implements [dashboard.Recording].
func (r *records) State() dashboard.RecordingState {
	one := r.last()
	if one == nil {
		return dashboard.RecordingState{}
	}
	trouble := one.trouble()
	return dashboard.RecordingState{On: trouble == "", Since: one.Recorder.State().Began, Trouble: trouble}
}

// Start implements [dashboard.Recording].
func (r *records) Start() (string, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	switch {
	case r.ended:
		return "", errors.New("the session ends")
	case r.State().On:
		return "", errors.New("already recording")
	}
	ending := filepath.Ext(r.file)
	path, err := freeName(strings.TrimSuffix(r.file, ending), ending)
	if r.file == "" {
		path, err = newFile(r.folder, "recordings", r.session.Header().Environment, ".tillwatch")
	}
	if err != nil {
		return "", durable.ReasonFirst(err)
	}
	return "recording: " + wording.Path(path), r.begin(path)
}

// longestEnd is how long ending a recording may take.
const longestEnd = 10 * time.Second

// End implements [dashboard.Recording].
func (r *records) End() (string, error) {
	one := r.last()
	if one == nil {
		return "", errors.New("nothing is being recorded")
	}
	one.end()
	select {
	case <-one.done:
	case <-time.After(longestEnd):
		return "", errors.New("the recording is still being written: the disk is slow")
	}
	if err := one.Recorder.State().Err; err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one.seen = true
	return one.words(), nil
}

// trouble says why a recording has ended by itself; "" if it has not.
func (one *record) trouble() string {
	switch state := one.State(); {
	case state.Err != nil:
		return state.Err.Error()
	case state.Full:
		return "the recording ended: its file reached the limit of " + wording.Bytes(state.Bytes)
	}
	return ""
}

// words say what was recorded.
func (one *record) words() string {
	state := one.State()
	return fmt.Sprintf("recorded %s in %s: tillwatch replay %s", api.Span(state.Length().Round(time.Second)),
		wording.Bytes(state.Bytes), wording.Path(one.Path()))
}

// finish ends the recordings, waits until each file is complete, and says what was recorded.
func (r *records) finish(words io.Writer) {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.ended = true
	for _, one := range r.all {
		one.end()
		<-one.done
		if trouble := one.trouble(); trouble != "" {
			fmt.Fprintf(words, "tillwatch: %s\n", api.Scrub(trouble))
		}
		fmt.Fprintf(words, "tillwatch: %s\n", one.words())
	}
}
