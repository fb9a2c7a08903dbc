package form

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// Writer writes a file: lines in parts, each a gzip member. It is not safe for
// concurrent use.
type Writer struct {
	out   *counter
	ahead *bufio.Writer // gzip writes in small pieces
	level int
	pack  *gzip.Writer // of all parts, because one takes 1 MB; nil before the first
	begun bool         // a part
	line  []byte
}

// NewWriter returns a Writer to out that compresses at a level of package gzip.
func NewWriter(out io.Writer, level int) *Writer {
	w := &Writer{out: &counter{out: out}, level: level}
	w.ahead = bufio.NewWriterSize(w.out, 64<<10)
	return w
}

type counter struct {
	out   io.Writer
	bytes int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Put writes a line with v into the current part, or begins one, and returns the length
// of the line, unpacked. It writes nothing if v cannot be encoded.
func (w *Writer) Put(v any) (bytes int, err error) {
	if w.line, err = AppendLine(w.line[:0], v); err != nil {
		return 0, err
	}
	if err := w.begin(); err != nil {
		return 0, err
	}
	_, err = w.pack.Write(w.line)
	return len(w.line), err
}

// begin begins a part unless there is one.
func (w *Writer) begin() (err error) {
	if w.begun {
		return nil
	}
	if w.pack == nil {
		w.pack, err = gzip.NewWriterLevel(w.ahead, w.level)
	} else {
		w.pack.Reset(w.ahead)
	}
	if err == nil {
		w.begun = true
	}
	return err
}

// EndPart ends the current part, if there is one.
func (w *Writer) EndPart() error {
	if !w.begun {
		return nil
	}
	err := w.pack.Close()
	w.begun = false
	return errors.Join(err, w.ahead.Flush())
}

// Flush writes all lines so far to the underlying writer.
func (w *Writer) Flush() error {
	if !w.begun {
		return nil
	}
	return errors.Join(w.pack.Flush(), w.ahead.Flush())
}

// Bytes returns the length of the file so far.
func (w *Writer) Bytes() int64 { return w.out.bytes + int64(w.ahead.Buffered()) }
