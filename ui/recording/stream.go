package recording

import (
	"context"
	"fmt"
	"io"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// Stream writes lines to out until ctx ends or writing fails: the header, the whole
// picture, and changes as they happen. Each line is one write.
func Stream(ctx context.Context, source Source, h form.Header, out io.Writer) error {
	if h.Began.IsZero() {
		h.Began = time.Now()
	}
	h.Kind, h.Masked = form.Stream, account.Masked()
	var line []byte
	put := func(v any) (err error) {
		if line, err = form.AppendLine(line[:0], v); err != nil {
			return err
		}
		_, err = out.Write(line)
		return err
	}
	if err := put(form.Begin(h)); err != nil {
		return err
	}
	frames := account.FrameWriter{Detail: source.Intent, Put: func(f *account.Frame) error { return put(f) }}
	marks := marker{began: h.Began}
	var since uint64
	for first := true; ; first = false {
		c := source.Changes(since)
		c.Whole = c.Whole && (first || since > 0) // an empty picture was whole, too
		c.At, since = c.At.Round(0), c.Version
		if err := frames.Write(&c, marks.of(&c, first)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return put(&account.Frame{At: time.Now().UTC(), End: "closed"})
		}
		select {
		case <-ctx.Done():
			continue // to write the last changes
		case <-time.After(gather):
		}
		if err := source.Wait(ctx, since); err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for changes: %w", err)
		}
	}
}
