package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// tape is a whole recording in memory.
type tape struct {
	header  form.Header
	changes []change // at least one, in order
	length  time.Duration
	ended   string // why it ends; "" if it was cut off
	damaged bool   // the rest cannot be read
	size    int    // of all lines, in bytes
}

// change is one change of the screen.
type change struct {
	at    time.Duration // since the beginning
	lines []byte
}

// open reads a recording. Its error is one sentence that says what is wrong with the file
// and what to do.
func open(path string) (*tape, error) {
	t, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording %s: %w", path, cause(err))
	}
	return t, nil
}

func openRegular(path string) (*tape, error) {
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
	defer f.Close()
	return read(f, info.Size())
}

// read reads a recording up to its end, or to where it is cut off or damaged.
func read(data io.ReaderAt, size int64) (*tape, error) {
	t := &tape{}
	part, err := t.readHeader(data, size)
	if err != nil {
		return nil, err
	}
	for {
		if err = t.readPart(part); !errors.Is(err, io.EOF) || part.End() >= size {
			break
		}
		if part, err = form.OpenPart(data, part.End(), size); err != nil {
			break
		}
	}
	if !errors.Is(err, io.EOF) {
		t.ended, t.damaged = "", !errors.Is(err, io.ErrUnexpectedEOF)
	}
	switch {
	case len(t.changes) > 0:
		t.length = max(t.length, t.changes[len(t.changes)-1].at)
		return t, nil
	case t.damaged:
		return nil, errors.New("nothing after its first line can be read: ask for the file again")
	}
	return nil, errors.New("it ends after its first line: nothing was recorded yet")
}

// readHeader reads the first line and returns its part.
func (t *tape) readHeader(data io.ReaderAt, size int64) (*form.Part, error) {
	part, err := form.OpenPart(data, 0, size)
	var line []byte
	if err == nil {
		line, err = part.Next()
	}
	if err == nil {
		t.header, err = form.ReadHeader(line)
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

// outline holds the fields of a line that place it.
type outline struct {
	At    time.Time `json:"at"`
	Whole bool      `json:"whole"`
	More  bool      `json:"more"`
	End   string    `json:"end"`
}

// longestTime bounds the time of a line after the beginning.
const longestTime = 100 * 365 * 24 * time.Hour

// readPart reads the changes of a part until its end, which is [io.EOF], or until an error.
// The first line has a whole picture, and time does not go back.
func (t *tape) readPart(part *form.Part) error {
	var lines []byte // of a change that goes on
	for {
		line, err := part.Next()
		if err != nil {
			return err
		}
		var o outline
		if err := form.Object(line, &o); err != nil {
			return err
		}
		at := o.At.Sub(t.header.Began)
		before, first := time.Duration(0), len(t.changes) == 0
		if !first {
			before = t.changes[len(t.changes)-1].at
		}
		t.size += len(line) + 1
		switch {
		case at < before, at > longestTime, t.size > longest,
			first && lines == nil && !o.Whole && o.End == "":
			return form.ErrDamaged
		case o.End != "":
			t.ended, t.length = o.End, at
			continue
		}
		t.ended = ""
		lines = append(append(lines, line...), '\n')
		if !o.More {
			t.changes = append(t.changes, change{at, bytes.Clone(lines)})
			lines = lines[:0]
		}
	}
}

// decode reads the lines of a change, which are one frame. It skips unreadable lines:
// the rest of the picture is better than nothing.
func decode(lines []byte) []*account.Frame {
	var frame []*account.Frame
	for line := range bytes.Lines(lines) {
		f, err := account.ReadFrame(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			continue
		}
		addBodies(f)
		frame = append(frame, f)
	}
	return frame
}

// addBodies makes the bodies that the screen shows of the recorded fields: a recording has none.
func addBodies(f *account.Frame) {
	for _, in := range f.Intents {
		if in.Latest != nil {
			in.Latest.Raw, _ = json.Marshal(in.Latest)
		}
	}
	for _, s := range f.Shipments {
		if s.Latest != nil {
			s.Latest.Raw, _ = json.Marshal(s.Latest)
		}
	}
	for _, e := range f.Events {
		e.Raw, _ = json.Marshal(map[string]any{
			"id": e.ID, "object": "event", "type": e.Type, "createdAt": e.CreatedAt,
			"source": map[string]any{"type": e.SourceType, "id": e.SourceID},
		})
	}
}
