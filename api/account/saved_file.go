package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"tillwatch/api/account/form"
)

// mostSaved bounds the size of a picture that is read.
const mostSaved = 1 << 30

func previousOf(path string) string { return path + ".previous" }

// savedPicture is the content of a picture's file.
type savedPicture struct {
	at    time.Time
	lines []*Frame // one whole frame
}

func openPicture(path string) (*savedPicture, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > mostSaved {
		return nil, fmt.Errorf("%s: %w: larger than any picture", filepath.Base(path), ErrSavedDamaged)
	}
	p, err := readPicture(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return p, nil
}

// earlierForm begins the pictures of earlier versions.
const earlierForm = "tillwatch picture "

// readPicture reads a file. Every line must be sound.
func readPicture(data io.ReaderAt, size int64) (*savedPicture, error) {
	begin := make([]byte, len(earlierForm))
	if n, _ := data.ReadAt(begin, 0); bytes.Equal(begin[:n], []byte(earlierForm)) {
		return nil, fmt.Errorf("%w, an earlier one", ErrSavedVersion)
	}
	lines, at, err := readLines(data, size)
	if err != nil {
		return nil, damaged(err)
	}
	p := &savedPicture{at: at}
	if p.lines, err = readFrames(lines); err != nil {
		return nil, damaged(err)
	}
	p.lines = slices.DeleteFunc(p.lines, func(f *Frame) bool { return f.Glance })
	for i, f := range p.lines {
		if f.Whole != (i == 0) || f.More != (i < len(p.lines)-1) {
			return nil, damaged(errors.New("it holds no whole picture"))
		}
	}
	if len(p.lines) == 0 {
		return nil, damaged(errors.New("there is no picture in it"))
	}
	return p, nil
}

// readFrames decodes lines on all processors, because the start waits for it.
func readFrames(lines [][]byte) ([]*Frame, error) {
	frames := make([]*Frame, len(lines))
	var decoding errgroup.Group
	decoding.SetLimit(runtime.GOMAXPROCS(0))
	for i, line := range lines {
		decoding.Go(func() (err error) {
			frames[i], err = ReadFrame(line)
			return err
		})
	}
	return frames, decoding.Wait()
}

// damaged returns err as one of the two reasons why a picture cannot be opened.
func damaged(err error) error {
	if errors.Is(err, ErrSavedVersion) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrSavedDamaged, err)
}

// readLines returns the lines of a file after its header, and when it was begun.
func readLines(data io.ReaderAt, size int64) (lines [][]byte, at time.Time, err error) {
	err = eachLine(data, size, func(i int, line []byte) (err error) {
		if i == 0 {
			at, err = began(line)
		} else {
			lines = append(lines, bytes.Clone(line))
		}
		return err
	})
	return lines, at, err
}

// began returns when a picture was begun, by its header.
func began(line []byte) (time.Time, error) {
	h, err := form.ReadHeader(line)
	switch {
	case errors.Is(err, form.ErrVersion):
		return time.Time{}, fmt.Errorf("%w: %w", ErrSavedVersion, err)
	case err != nil:
		return time.Time{}, err
	case h.Kind != form.Picture:
		return time.Time{}, errors.New("it holds no picture alone")
	}
	return h.Began, nil
}

// eachLine calls do with each line of a file and its number, until do fails. do must not keep the line.
func eachLine(data io.ReaderAt, size int64, do func(i int, line []byte) error) error {
	i := 0
	for next := int64(0); next < size; {
		part, err := form.OpenPart(data, next, size)
		if err != nil {
			return err
		}
		line, err := part.Next()
		for ; err == nil; line, err = part.Next() {
			if err := do(i, line); err != nil {
				return err
			}
			i++
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		next = part.End()
	}
	return nil
}
