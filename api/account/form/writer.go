package form

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// partMark is the extra field of the gzip members of a file, by which the next
// part is found behind a damaged one (RFC 1952, 2.3).
var partMark = []byte{'T', 'W', 4, 0, 'f', 'r', 'm', '2'}

// Writer writes a file: lines in parts, each a gzip member. It is used by one
// goroutine.
type Writer struct {
	out   *counter
	ahead *bufio.Writer // a packer writes in small pieces
	level int
	part  *gzip.Writer // nil between two parts
	line  []byte
}

// NewWriter writes to out, packing at a level of package gzip.
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

// Put writes a line into the part at hand, or begins one, and returns how long
// the line is, unpacked. A v that cannot be encoded is not written.
func (w *Writer) Put(v any) (bytes int, err error) {
	if w.line, err = AppendLine(w.line[:0], v); err != nil {
		return 0, err
	}
	if w.part == nil {
		if w.part, err = gzip.NewWriterLevel(w.ahead, w.level); err != nil {
			return 0, err
		}
		w.part.Extra = partMark
	}
	_, err = w.part.Write(w.line)
	return len(w.line), err
}

// EndPart ends the part at hand, if there is one.
func (w *Writer) EndPart() error {
	if w.part == nil {
		return nil
	}
	err := w.part.Close()
	w.part = nil
	return errors.Join(err, w.ahead.Flush())
}

// PutPart writes a part as another writer has packed it.
func (w *Writer) PutPart(packed []byte) error {
	if err := w.EndPart(); err != nil {
		return err
	}
	_, err := w.out.Write(packed)
	return err
}

// Flush hands all lines to the underlying writer.
func (w *Writer) Flush() error {
	if w.part == nil {
		return nil
	}
	return errors.Join(w.part.Flush(), w.ahead.Flush())
}

// Bytes is how long the file is so far.
func (w *Writer) Bytes() int64 { return w.out.bytes + int64(w.ahead.Buffered()) }
