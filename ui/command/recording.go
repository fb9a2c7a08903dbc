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

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/account/form"
	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// recordOptions say where to record.
type recordOptions struct {
	file  string
	limit int64 // bytes; 0: the default
}

func recordFlags(flags *pflag.FlagSet, o *recordOptions) {
	flags.StringVar(&o.file, "record", "", "record to a new file that only you can read, for tillwatch replay; without keys, tokens and buyers")
	sizeFlag(flags, &o.limit, "record-limit", "with --record: stop when the file has this size, such as 200MB (default 64MiB)")
}

// records are the recordings of a session: at most one runs at a time.
type records struct {
	session *session.Session
	folder  string
	options recordOptions
	header  form.Header
	first   *record // from --record; may be nil
	starts  chan *record
	ended   chan struct{} // closed when recording is no longer possible

	starting sync.Mutex
	mu       sync.Mutex
	all      []*record // the last may still run
}

// record is one recording.
type record struct {
	recorder *recording.Recorder
	asked    time.Time
	ctx      context.Context // ends with the recording
	end      context.CancelFunc
	done     chan struct{} // closed once it has ended
	seen     bool          // a person ended it, and saw the result
}

// record prepares a session's recordings, and starts one if --record is given.
func recordsOf(s *session.Session, o screenOptions, out io.Writer) (*records, error) {
	if o.record.file == "" && o.record.limit > 0 {
		return nil, usagef("--record-limit needs --record")
	}
	r := &records{
		session: s, folder: o.folder(s.Settings), options: o.record, header: s.Header(), starts: make(chan *record), ended: make(chan struct{}),
	}
	r.header.Width, r.header.Height = o.width, o.height
	if w, h := terminalSize(out); w > 0 && !o.plain {
		r.header.Width, r.header.Height = w, h
	}
	if o.record.file == "" {
		return r, nil
	}
	recorder, err := recording.Create(o.record.file, r.header, o.record.limit)
	if err != nil {
		return nil, usage(err)
	}
	r.first = r.add(recorder)
	return r, nil
}

func (r *records) add(recorder *recording.Recorder) *record {
	one := &record{recorder: recorder, asked: time.Now(), done: make(chan struct{})}
	one.ctx, one.end = context.WithCancel(context.Background())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	return one
}

// run records until the recording or ctx ends.
func (one *record) run(ctx context.Context, s *session.Session) {
	defer close(one.done)
	defer context.AfterFunc(ctx, one.end)()
	s.AwaitEnvironment(one.ctx)
	where := s.Client.Environment()
	one.recorder.Name(where.Name, where.Live)
	_ = one.recorder.Run(one.ctx, s.Store) // its state has the error
	one.end()
}

// run runs the requested recordings until ctx ends. A failed recording does not
// affect the session, and each file is complete at the end.
func (r *records) run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer close(r.ended)
	if r.session.Restored() != nil { // a recording begins with the whole picture
		return nil
	}
	begin := func(one *record) { running.Go(func() { one.run(ctx, r.session) }) }
	if r.first != nil {
		begin(r.first)
	}
	for {
		select {
		case one := <-r.starts:
			begin(one)
		case <-ctx.Done():
			return nil
		}
	}
}

// State implements [dashboard.Recording].
func (r *records) State() dashboard.RecordingState {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 || r.all[len(r.all)-1].seen {
		return dashboard.RecordingState{}
	}
	one := r.all[len(r.all)-1]
	switch state := one.recorder.State(); {
	case state.Err != nil:
		return dashboard.RecordingState{Trouble: state.Err.Error()}
	case state.Full:
		return dashboard.RecordingState{Trouble: "the recording ended: its file reached the limit of " + wording.Bytes(state.Bytes)}
	}
	return dashboard.RecordingState{On: true, Since: one.asked}
}

// Start implements [dashboard.Recording].
func (r *records) Start() (string, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	if r.State().On {
		return "", errors.New("already recording")
	}
	h := r.session.Header()
	h.Width, h.Height = r.header.Width, r.header.Height
	path, err := r.path(h.Environment)
	if err != nil {
		return "", durable.ReasonFirst(err)
	}
	recorder, err := recording.Create(path, h, r.options.limit)
	if err != nil {
		return "", err
	}
	one := r.add(recorder)
	select {
	case r.starts <- one:
	case <-r.ended: // the session ends: the recording is complete, but short
		one.end()
		one.run(one.ctx, r.session)
	}
	return "recording: " + wording.Path(path), nil
}

// path is a file for another recording: beside that of --record, or in the state
// folder.
func (r *records) path(environment string) (string, error) {
	if file := r.options.file; file != "" {
		ending := filepath.Ext(file)
		return freeName(strings.TrimSuffix(file, ending), ending)
	}
	return newFile(r.folder, "recordings", environment, ".tillwatch")
}

// End implements [dashboard.Recording].
func (r *records) End() (string, error) {
	if !r.State().On {
		return "", errors.New("nothing is being recorded")
	}
	r.mu.Lock()
	one := r.all[len(r.all)-1]
	r.mu.Unlock()
	one.end()
	select {
	case <-one.done:
	case <-time.After(longestEnd):
		return "", errors.New("the recording is still being written: the disk is slow")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := one.recorder.State().Err; err != nil {
		return "", err
	}
	one.seen = true
	state := one.recorder.State()
	return fmt.Sprintf("recorded %s in %s: tillwatch replay %s", api.Span(state.Length().Round(time.Second)), wording.Bytes(state.Bytes), wording.Path(one.recorder.Path())), nil
}

// longestEnd is how long ending a recording may take.
const longestEnd = 10 * time.Second

// words say what was recorded.
func (one *record) words() string {
	state := one.recorder.State()
	length := api.Span(state.Length().Round(time.Second))
	how := fmt.Sprintf("recorded %s in %s, without keys, tokens and buyers", length, wording.Bytes(state.Bytes))
	switch {
	case state.Err != nil:
		return fmt.Sprintf("%s; the %s before that can be played", state.Err, length)
	case state.Full:
		how = fmt.Sprintf("the recording reached its limit: %s in %s", length, wording.Bytes(state.Bytes))
	}
	return how + ". To play it: tillwatch replay " + one.recorder.Path()
}

// report reports the recordings, once they have ended.
func (r *records) report(words io.Writer) {
	if r == nil || words == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		fmt.Fprintf(words, "tillwatch: %s\n", api.Scrub(one.words()))
	}
}
