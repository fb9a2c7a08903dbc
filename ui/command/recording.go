package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/recording"
)

// recordOptions say where what the screen is fed is kept.
type recordOptions struct {
	file  string
	limit byteSize
}

func recordFlags(flags *pflag.FlagSet, o *recordOptions) {
	flags.StringVar(&o.file, "record", "", "record to a new file that only you can read, for tillwatch replay; without keys, tokens and buyers")
	flags.Var(&o.limit, "record-limit", "with --record: stop recording when the file has this size, such as 200MB (default 1GiB)")
}

// record is a recording under way; nil when nothing is recorded.
type record struct {
	session  *session
	recorder *recording.Recorder
	err      error // with which it ended
}

// record begins to record a session, if that is asked for.
func (s *session) record(o screenOptions, out io.Writer) (*record, error) {
	if o.record.file == "" {
		if o.record.limit > 0 {
			return nil, usagef("--record-limit needs --record")
		}
		return nil, nil
	}
	width, height := o.width, o.height
	if file, ok := out.(*os.File); ok && !o.plain {
		if w, h, err := term.GetSize(file.Fd()); err == nil {
			width, height = w, h
		}
	}
	h := s.header()
	h.Width, h.Height = width, height
	recorder, err := recording.Create(o.record.file, h, int64(o.record.limit))
	if err != nil {
		return nil, usage(err)
	}
	return &record{session: s, recorder: recorder}, nil
}

// run records until ctx ends. A recording that fails ends nothing but itself.
func (r *record) run(ctx context.Context) error {
	if r != nil && r.session.restored() == nil { // it begins with the whole picture
		r.err = r.recorder.Run(ctx, r.session.store)
	}
	return nil
}

// trouble tells the screen what goes wrong with the recording.
func (r *record) trouble() func() string {
	if r == nil {
		return nil
	}
	return func() string {
		switch state := r.recorder.State(); {
		case state.Err != nil:
			return state.Err.Error()
		case state.Full:
			return "the recording has ended: its file has reached the limit of " + bytesInWords(state.Bytes)
		}
		return ""
	}
}

// tell says what came of the recording, once it has ended.
func (r *record) tell(words io.Writer) {
	if r == nil || words == nil {
		return
	}
	state := r.recorder.State()
	length := state.Until.Sub(state.Began).Round(time.Second)
	how := fmt.Sprintf("recorded %v in %s, without keys, tokens and buyers", length, bytesInWords(state.Bytes))
	switch {
	case r.err != nil:
		fmt.Fprintf(words, "tillwatch: %s; the %v until then can be played\n", api.Scrub(r.err.Error()), length)
		return
	case state.Full:
		how = fmt.Sprintf("the recording reached its limit: %v in %s", length, bytesInWords(state.Bytes))
	}
	fmt.Fprintf(words, "tillwatch: %s. To play it: tillwatch replay %s\n", how, api.Scrub(r.recorder.Path()))
}

func bytesInWords(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
