package recording

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"tillwatch/api/account/form"
)

// file is an opened recording with an index of its chapters and changes.
type file struct {
	data     io.ReaderAt
	closer   io.Closer
	size     int64
	header   form.Header
	chapters []chapter
	changes  []change
	marks    []Mark
	length   time.Duration
	ended    string // why it ends; "" if it was cut off
	damaged  int    // number of unreadable parts
}

// chapter is a part of the file; it begins with the whole picture.
type chapter struct {
	offset     int64 // of the part in the file
	begin, end int   // of its changes, in bytes of the unpacked part
	first      int   // index of its first change
}

// change is one change of the screen.
type change struct {
	at       time.Duration
	from, to int // its lines, in bytes of the unpacked part
	chapter  int
}

// open opens a recording. Its error is one sentence that says what is wrong with the file
// and what to do.
func open(path string) (*file, error) {
	read, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording %s: %w", path, cause(err))
	}
	return read, nil
}

func openRegular(path string) (*file, error) {
	info, err := os.Stat(path) // first: to open a pipe waits for its writer
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder: give the file in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file: save it as one first")
	case info.Size() == 0:
		return nil, errors.New("it is empty: nothing was recorded")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	read, err := index(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	read.closer = f
	return read, nil
}

// cause removes the path from an error: the caller names it already.
func cause(err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// index reads a recording once and finds everything that can be played.
func index(data io.ReaderAt, size int64) (*file, error) {
	f := &file{data: data, size: size}
	part, err := f.readHeader()
	if err != nil {
		return nil, err
	}
	for next := f.indexPart(0, part); next < size; {
		if part, err = form.OpenPart(data, next, size); err != nil {
			next = f.skip(next, err)
			continue
		}
		next = f.indexPart(next, part)
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

// readHeader reads the first line and returns its part.
func (f *file) readHeader() (*form.Part, error) {
	part, err := form.OpenPart(f.data, 0, f.size)
	var line []byte
	if err == nil {
		line, err = part.Next()
	}
	if err == nil {
		f.header, err = form.ReadHeader(line)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends within its first line: nothing was recorded yet, or the copy is incomplete")
	case errors.Is(err, form.ErrForeign):
		err = errors.New("it is not a recording: --record makes one")
	case errors.Is(err, form.ErrDamaged):
		err = errors.New("its first line is damaged: ask for the file again")
	}
	return part, err
}

// indexPart indexes the rest of a part and returns the offset of the next: right after it
// or, if it is damaged, the next one that can be found.
func (f *file) indexPart(offset int64, part *form.Part) (next int64) {
	c := chapter{offset: offset, begin: part.Read(), first: len(f.changes)}
	err := f.gather(part, &c)
	if len(f.changes) > c.first {
		f.chapters = append(f.chapters, c)
	}
	if errors.Is(err, io.EOF) {
		return part.End()
	}
	return f.skip(offset, err)
}

// skip returns the offset of the next part after an unreadable one. If there is none, the
// file may only be cut off.
func (f *file) skip(offset int64, err error) (next int64) {
	next = form.FindPart(f.data, offset+1, f.size)
	if next == f.size {
		f.ended = ""
	}
	if next < f.size || !errors.Is(err, io.ErrUnexpectedEOF) {
		f.damaged++
		at := time.Duration(0)
		if n := len(f.changes); n > 0 {
			at = f.changes[n-1].at
		}
		f.marks = append(f.marks, Mark{at, MarkEnd})
	}
	return next
}

// gather indexes the changes of a chapter until its end, which is [io.EOF], or until an
// error.
func (f *file) gather(part *form.Part, c *chapter) error {
	begin := -1 // of the current change; -1: none
	var marks []Kind
	for {
		at := part.Read()
		g, err := f.outline(part, begin < 0 && len(f.changes) == c.first)
		if err != nil {
			return err
		}
		if g.Glance { // the whole picture comes later
			continue
		}
		when := g.At.Sub(f.header.Began)
		if g.End != "" {
			f.ended, f.length = g.End, when
			continue
		}
		f.ended = ""
		if begin < 0 {
			begin, marks = at, nil
		}
		marks = append(marks, g.Marks...)
		if g.More {
			continue
		}
		f.changes = append(f.changes, change{at: when, from: begin, to: part.Read(), chapter: len(f.chapters)})
		for _, kind := range marks {
			if kind.Rank() >= 0 {
				f.marks = append(f.marks, Mark{when, kind})
			}
		}
		c.end, begin = part.Read(), -1
	}
}

// outline holds the fields of a line that the index needs.
type outline struct {
	At     time.Time `json:"at"`
	Marks  []Kind    `json:"marks"`
	Glance bool      `json:"glance"`
	Whole  bool      `json:"whole"`
	More   bool      `json:"more"`
	End    string    `json:"end"`
}

// longestTime bounds the time of a line after the beginning.
const longestTime = 100 * 365 * 24 * time.Hour

// outline reads the next line and checks it: the first line of a chapter has a picture,
// and time does not go back.
func (f *file) outline(part *form.Part, first bool) (g outline, err error) {
	line, err := part.Next()
	if err != nil {
		return g, err
	}
	if err := form.Object(line, &g); err != nil {
		return g, err
	}
	at := g.At.Sub(f.header.Began)
	switch {
	case at < 0 || at > longestTime,
		first && !g.Whole && !g.Glance && g.End == "",
		len(f.changes) > 0 && at < f.changes[len(f.changes)-1].at:
		return g, form.ErrDamaged
	}
	return g, nil
}

// unpack returns the lines of a chapter, from its offset begin on.
func (f *file) unpack(c *chapter) ([]byte, error) {
	lines, err := form.Bytes(f.data, c.offset, f.size, c.begin, c.end)
	if err != nil {
		return nil, fmt.Errorf("the recording changed while it played: open it again (%w)", err)
	}
	return lines, nil
}

func (f *file) close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}
