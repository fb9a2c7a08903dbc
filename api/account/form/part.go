package form

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
)

// LongestPart is the most bytes of one unpacked part of a file.
const LongestPart = 1 << 30

// Part reads the lines of one part of a file, or of an unpacked file.
type Part struct {
	data   io.ReaderAt
	size   int64
	offset int64
	packed *countingReader // nil if the file is not packed
	in     *bufio.Reader
	line   []byte
	read   int // bytes of the lines so far
}

// OpenPart opens the part that begins at an offset of a file of the given size. The
// error is [io.ErrUnexpectedEOF] if the file ends too early to recognize it,
// [ErrForeign] if it is no such file, else [ErrDamaged].
func OpenPart(data io.ReaderAt, offset, size int64) (*Part, error) {
	var head [32]byte
	n, _ := data.ReadAt(head[:], offset)
	section := io.NewSectionReader(data, offset, size-offset)
	p := &Part{data: data, size: size, offset: offset}
	if offset == 0 && head[0] == '{' {
		p.in = bufio.NewReaderSize(section, 64<<10)
		return p, nil
	}
	if !bytes.HasPrefix(head[:n], gzipMagic) {
		if n < len(gzipMagic) && bytes.HasPrefix(gzipMagic, head[:n]) {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, ErrForeign
	}
	p.packed = &countingReader{in: bufio.NewReaderSize(section, 64<<10)}
	unpacked, err := gzip.NewReader(p.packed)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, ErrDamaged
	}
	unpacked.Multistream(false)
	p.in = bufio.NewReaderSize(unpacked, 64<<10)
	return p, nil
}

var gzipMagic = []byte{0x1f, 0x8b}

// countingReader counts the bytes read. It is an [io.ByteReader], with which gzip reads
// no byte beyond its member.
type countingReader struct {
	in    *bufio.Reader
	count int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.count += int64(n)
	return n, err
}

func (r *countingReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.count++
	}
	return b, err
}

// Next returns the next line, without its line feed; the next call overwrites it. The
// error is [io.EOF] at the end of the part, [io.ErrUnexpectedEOF] if the file is cut off
// within a line or a packed part, else [ErrDamaged].
func (p *Part) Next() ([]byte, error) {
	p.line = p.line[:0]
	for {
		piece, err := p.in.ReadSlice('\n')
		p.line = append(p.line, piece...)
		switch {
		case len(p.line) > LongestLine || p.read+len(p.line) > LongestPart:
			return nil, ErrDamaged
		case err == nil:
			line := p.line[:len(p.line)-1]
			if !sound(line) {
				return nil, ErrDamaged
			}
			p.read += len(p.line)
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(p.line) == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF) && p.packed == nil, errors.Is(err, io.ErrUnexpectedEOF):
			return nil, io.ErrUnexpectedEOF
		}
		return nil, ErrDamaged
	}
}

// End returns the offset of the next part, once Next has returned [io.EOF].
func (p *Part) End() int64 {
	if p.packed == nil {
		return p.size
	}
	return p.offset + p.packed.count
}

// Object decodes a line into v. The error is [ErrDamaged].
func Object(line []byte, v any) error {
	if json.Unmarshal(line, v) != nil {
		return ErrDamaged
	}
	return nil
}
