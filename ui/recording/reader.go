package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is an opened recording with an index of it: where its chapters are and
// when each change was.
type file struct {
	data     io.ReaderAt
	closer   io.Closer
	size     int64
	header   Header
	chapters []chapter
	changes  []change
	marks    []Mark
	length   time.Duration
	ended    string // why it ends; "" when it was cut off
	damaged  int    // parts that cannot be read
}

// chapter is a part of the file that begins with the whole picture.
type chapter struct {
	offset int64 // of its packed part
	bytes  int   // of what can be read of it, unpacked
	first  int   // its first change
	end    int   // behind its last
}

// change is one moment at which the screen was fed.
type change struct {
	at       time.Duration
	from, to uint32 // its lines within the unpacked chapter
	chapter  int32
}

// longestChapter bounds what is unpacked at a time.
const longestChapter = 1 << 30

// open opens a recording. The error says in one sentence what is wrong with it
// and what to do.
func open(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording %s: %w", path, cause(err))
	}
	info, err := f.Stat()
	if err == nil {
		switch {
		case info.IsDir():
			err = errors.New("it is a folder: name the file in it")
		case !info.Mode().IsRegular():
			err = errors.New("it is no regular file: save it as one first")
		case info.Size() == 0:
			err = errors.New("it is empty: nothing was recorded")
		}
	}
	var read *file
	if err == nil {
		read, err = index(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening the recording %s: %w", path, cause(err))
	}
	read.closer = f
	return read, nil
}

// cause takes the path out of an error: it is named already.
func cause(err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// index reads a recording once and finds what can be played of it.
func index(data io.ReaderAt, size int64) (*file, error) {
	f := &file{data: data, size: size}
	next, err := f.readHeader()
	if err != nil {
		return nil, err
	}
	for next < size {
		next, err = f.indexPart(next)
		if err != nil {
			return nil, err
		}
	}
	if len(f.changes) == 0 {
		if f.damaged > 0 {
			return nil, errors.New("nothing after its first line can be read: ask for the file again")
		}
		return nil, errors.New("it ends after its first line: nothing was recorded yet")
	}
	f.length = max(f.length, f.changes[len(f.changes)-1].at)
	return f, nil
}

// readHeader reads the first part and returns where the next begins.
func (f *file) readHeader() (next int64, err error) {
	lines, err := f.part(0)
	if err != nil {
		return 0, err
	}
	line, err := lines.next()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errors.New("it is cut off within its first line: nothing was recorded yet, or the copy is not whole")
	case err != nil:
		return 0, errors.New("its first line is damaged: ask for the file again")
	}
	if f.header, err = decodeHeader(line); err != nil {
		return 0, err
	}
	if _, err := lines.next(); !errors.Is(err, io.EOF) {
		return lines.found(1), nil
	}
	return lines.offset + lines.read(), nil
}

// indexPart indexes a chapter and returns where the next begins: right behind it,
// or, where it is damaged, at the next that can be found.
func (f *file) indexPart(offset int64) (next int64, err error) {
	lines, err := f.part(offset)
	if err != nil {
		if next = f.search(offset + 1); next < f.size {
			f.damage()
			return next, nil
		}
		f.cutOff()
		return f.size, nil
	}
	c := chapter{offset: offset, first: len(f.changes)}
	err = f.gather(lines, &c)
	if c.end = len(f.changes); c.end > c.first {
		f.chapters = append(f.chapters, c)
	}
	if errors.Is(err, io.EOF) {
		return offset + lines.read(), nil
	}
	if next = f.search(offset + 1); next < f.size {
		f.damage()
		return next, nil
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		f.damage()
	}
	f.cutOff()
	return f.size, nil
}

// gather indexes the changes of a chapter until it ends, with io.EOF, or until
// what cannot be part of it.
func (f *file) gather(lines *lineReader, c *chapter) error {
	begin := -1 // of the change that is being gathered
	var marks []Kind
	for {
		at := lines.unpacked
		g, err := f.glance(lines, begin < 0 && len(f.changes) == c.first)
		if err != nil {
			return err
		}
		if g.end != "" {
			f.ended, f.length = g.end, g.at
			continue
		}
		f.ended = ""
		if begin < 0 {
			begin, marks = at, nil
		}
		marks = append(marks, g.marks...)
		if g.more {
			continue
		}
		f.changes = append(f.changes, change{at: g.at, from: uint32(begin), to: uint32(lines.unpacked), chapter: int32(len(f.chapters))})
		for _, kind := range marks {
			f.marks = append(f.marks, Mark{g.at, kind})
		}
		c.bytes, begin = lines.unpacked, -1
	}
}

// glance looks at the next line, which is the first of its chapter or not: a
// chapter begins with the picture, and time does not go back.
func (f *file) glance(lines *lineReader, first bool) (glance, error) {
	object, err := lines.next()
	if err != nil {
		return glance{}, err
	}
	g, err := glanceAt(object)
	switch {
	case err != nil:
		return glance{}, err
	case first && !g.picture && g.end == "":
		return glance{}, errDamaged
	case len(f.changes) > 0 && g.at < f.changes[len(f.changes)-1].at:
		return glance{}, errDamaged
	}
	return g, nil
}

// damage marks that a part cannot be read.
func (f *file) damage() {
	f.damaged++
	at := time.Duration(0)
	if n := len(f.changes); n > 0 {
		at = f.changes[n-1].at
	}
	f.marks = append(f.marks, Mark{at, MarkEnd})
}

func (f *file) cutOff() { f.ended = "" }

// search finds the beginning of the next part from an offset on; the size of the
// file when there is none.
func (f *file) search(from int64) int64 {
	const step = 1 << 20
	window := make([]byte, step+len(partMagic))
	for from < f.size {
		n, _ := f.data.ReadAt(window, from)
		if i := bytes.Index(window[:n], partMagic); i >= 0 && validPart(window[i:n]) {
			return from + int64(i)
		} else if i >= 0 {
			from += int64(i) + 1
			continue
		}
		if n < len(window) {
			break
		}
		from += step
	}
	return f.size
}

// partMagic is how a gzip member begins that has an extra field (RFC 1952, 2.3).
var partMagic = []byte{0x1f, 0x8b, 8, 4}

// validPart reports whether a member carries the field of a recording.
func validPart(b []byte) bool {
	const extraAt = 12 // behind ten bytes of header and the field's length
	return len(b) >= extraAt+len(partExtra) && bytes.Equal(b[extraAt:extraAt+len(partExtra)], partExtra)
}

// part opens the packed part at an offset.
func (f *file) part(offset int64) (*lineReader, error) {
	var head [32]byte
	n, _ := f.data.ReadAt(head[:], offset)
	if !bytes.HasPrefix(head[:n], partMagic) || !validPart(head[:n]) {
		if offset == 0 && n < len(head) && bytes.HasPrefix(partMagic, head[:min(n, len(partMagic))]) {
			return nil, errors.New("it is cut off within its first line: nothing was recorded yet, or the copy is not whole")
		}
		return nil, errNoRecording
	}
	packed := &counting{in: bufio.NewReaderSize(io.NewSectionReader(f.data, offset, f.size-offset), 64<<10)}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errDamaged
	}
	unpacked.Multistream(false)
	return &lineReader{file: f, offset: offset, packed: packed, in: bufio.NewReaderSize(unpacked, 64<<10)}, nil
}

// counting counts the bytes that were taken. It hands them out one by one, so
// that not one is taken too many.
type counting struct {
	in    *bufio.Reader
	taken int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.taken += int64(n)
	return n, err
}

func (c *counting) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.taken++
	}
	return b, err
}

// lineReader reads the lines of one packed part.
type lineReader struct {
	file     *file
	offset   int64
	packed   *counting
	in       *bufio.Reader
	line     []byte
	unpacked int // bytes of the lines that were read
}

// next returns the object of the next line, until the one after is asked for. The
// error is io.EOF at the end of the part, io.ErrUnexpectedEOF where the file is
// cut off, and else that it is damaged.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		piece, err := l.in.ReadSlice('\n')
		l.line = append(l.line, piece...)
		switch {
		case len(l.line) > longestLine || l.unpacked+len(l.line) > longestChapter:
			return nil, errDamaged
		case err == nil:
			l.unpacked += len(l.line)
			return openLine(l.line[:len(l.line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.line) > 0:
			return nil, errDamaged
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, err
		}
		return nil, errDamaged
	}
}

// read is how many bytes of the file the part takes, once it was read to its end.
func (l *lineReader) read() int64 { return l.packed.taken }

// found is where the next part begins, when this one is not known to its end.
func (l *lineReader) found(skip int64) int64 { return l.file.search(l.offset + skip) }

// unpack reads what can be read of a chapter.
func (f *file) unpack(c *chapter) ([]byte, error) {
	lines, err := f.part(c.offset)
	if err != nil {
		return nil, err
	}
	text := make([]byte, c.bytes)
	if _, err := io.ReadFull(lines.in, text); err != nil {
		return nil, fmt.Errorf("reading a chapter again: %w", err)
	}
	return text, nil
}

func (f *file) close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}
