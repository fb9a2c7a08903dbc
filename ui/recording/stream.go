package recording

import (
	"context"
	"io"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// Stream writes lines to out until ctx ends or writing fails: the header, the whole
// picture, and changes as they happen. Each line is one write.
func Stream(ctx context.Context, source account.Picture, h form.Header, out io.Writer) error {
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
	since, first := uint64(0), true
	write := func(c account.Changes) error {
		c.Whole = c.Whole && (first || since > 0) // an empty picture was whole, too
		found := marks.of(&c, first)
		c.At, since, first = c.At.Round(0), c.Version, false
		return frames.Write(&c, found)
	}
	if err := account.Follow(ctx, source, gather, write); err != nil {
		return err
	}
	if err := write(source.Changes(since)); err != nil { // the last changes
		return err
	}
	return put(&account.Frame{At: time.Now().UTC(), End: "closed"})
}
