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

// keeping is a recording under way; nil when nothing is recorded.
type keeping struct {
	recorder *recording.Recorder
	end      context.CancelFunc
	ended    chan error // takes what Run returned
}

// record begins to record a session, if that is asked for.
func (s *session) record(ctx context.Context, o screenOptions, out io.Writer) (*keeping, error) {
	if o.record.file == "" {
		if o.record.limit > 0 {
			return nil, usagef("--record-limit needs --record")
		}
		return nil, nil
	}
	if err := s.restored.wait(); err != nil { // it begins with the whole picture
		return nil, err
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
	ctx, cancel := context.WithCancel(ctx)
	k := &keeping{recorder: recorder, end: cancel, ended: make(chan error, 1)}
	go func() { k.ended <- recorder.Run(ctx, s.store) }()
	return k, nil
}

// trouble tells the screen what goes wrong with the recording.
func (k *keeping) trouble() func() string {
	if k == nil {
		return nil
	}
	return func() string {
		switch state := k.recorder.State(); {
		case state.Err != nil:
			return state.Err.Error()
		case state.Full:
			return "the recording has ended: its file has reached the limit of " + bytesInWords(state.Bytes)
		}
		return ""
	}
}

// stop ends the recording and tells what came of it.
func (k *keeping) stop(words io.Writer) {
	if k == nil {
		return
	}
	k.end()
	err := <-k.ended
	if words == nil {
		return
	}
	state := k.recorder.State()
	length := state.Until.Sub(state.Began).Round(time.Second)
	switch {
	case err != nil:
		fmt.Fprintf(words, "tillwatch: %s; the %v until then can be played\n", api.Scrub(err.Error()), length)
	case state.Full:
		fmt.Fprintf(words, "tillwatch: the recording reached its limit: %v in %s. To play it: tillwatch replay %s\n", length, bytesInWords(state.Bytes), api.Scrub(k.recorder.Path()))
	default:
		fmt.Fprintf(words, "tillwatch: recorded %v in %s, without keys, tokens and buyers. To play it: tillwatch replay %s\n", length, bytesInWords(state.Bytes), api.Scrub(k.recorder.Path()))
	}
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
