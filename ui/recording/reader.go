package recording

import (
	"bytes"
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
}

// change is one change of the screen.
type change struct {
	at    time.Duration // since the beginning
	lines []byte
}

// longest bounds the lines of a recording, in bytes: a player keeps them in memory.
const longest = 512 << 20

// open reads a recording. Its error is one sentence that says what is wrong with the file
// and what to do.
func open(path string) (*tape, error) {
	info, err := os.Stat(path) // first: to open a pipe waits for its writer
	if err != nil {
		return nil, fmt.Errorf("opening the recording: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the recording %s is not a regular file: save it as one first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording: %w", err)
	}
	defer f.Close()
	t, err := read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("the recording %s cannot be played: %w", path, err)
	}
	return t, nil
}

// read reads a recording up to its end, or to where it is cut off or damaged.
func read(data io.ReaderAt, size int64) (*tape, error) {
	t := &tape{}
	part, err := form.OpenPart(data, 0, size)
	var line []byte
	if err == nil {
		line, err = part.Next()
	}
	if err == nil {
		t.header, err = form.ReadHeader(line)
	}
	switch {
	case errors.Is(err, form.ErrForeign), err == nil && t.header.Kind == form.Picture:
		return nil, errors.New("it is not a recording: --record makes one")
	case errors.Is(err, form.ErrVersion):
		return nil, err
	case err != nil:
		return nil, errors.New("its first line is damaged or incomplete: ask for the file again")
	}
	err = t.readChanges(part)
	if len(t.changes) == 0 {
		return nil, errors.New("nothing after its first line can be read: ask for the file again")
	}
	if !errors.Is(err, io.EOF) {
		t.ended, t.damaged = "", !errors.Is(err, io.ErrUnexpectedEOF)
	}
	t.length = max(t.length, t.changes[len(t.changes)-1].at)
	return t, nil
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

// readChanges reads changes until the end, which is [io.EOF], or until an error. The first
// line has a whole picture, and time does not go back.
func (t *tape) readChanges(part *form.Part) error {
	var lines []byte         // of a change that goes on
	var before time.Duration // the line above
	for size, first := 0, true; ; first = false {
		line, err := part.Next()
		if err != nil {
			return err
		}
		var o outline
		if err := form.Object(line, &o); err != nil {
			return err
		}
		at := o.At.Sub(t.header.Began)
		if size += len(line) + 1; at < before || at > longestTime || size > longest || first && !o.Whole {
			return form.ErrDamaged
		}
		before = at
		if t.ended = o.End; t.ended != "" {
			t.length = at
			continue
		}
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
		if f, err := account.ReadFrame(bytes.TrimSuffix(line, []byte("\n"))); err == nil {
			frame = append(frame, f)
		}
	}
	return frame
}
