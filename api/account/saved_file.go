package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"tillwatch/api/account/form"
)

// mostSaved bounds the file of a picture that is read.
const mostSaved = 1 << 30

func previousOf(path string) string { return path + ".previous" }

// savedPicture is what a file of a picture holds.
type savedPicture struct {
	at    time.Time
	lines []*Frame // of one whole frame
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

// earlierForm is how the pictures of earlier versions begin.
const earlierForm = "tillwatch picture "

// readPicture reads a file of which every line must be sound.
func readPicture(data io.ReaderAt, size int64) (*savedPicture, error) {
	begin := make([]byte, len(earlierForm))
	if n, _ := data.ReadAt(begin, 0); bytes.Equal(begin[:n], []byte(earlierForm)) {
		return nil, fmt.Errorf("%w, an earlier one", ErrSavedVersion)
	}
	lines, err := linesOf(data, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSavedDamaged, err)
	}
	h, err := form.ReadHeader(lines[0])
	switch {
	case errors.Is(err, form.ErrVersion):
		return nil, fmt.Errorf("%w: %w", ErrSavedVersion, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSavedDamaged, err)
	case h.Kind != form.Picture:
		return nil, fmt.Errorf("%w: it holds no picture alone", ErrSavedDamaged)
	}
	p := &savedPicture{at: h.Began, lines: make([]*Frame, len(lines)-1)}
	var decoding errgroup.Group // a start waits for it
	decoding.SetLimit(runtime.GOMAXPROCS(0))
	for i, line := range lines[1:] {
		decoding.Go(func() (err error) {
			p.lines[i], err = ReadFrame(line)
			return err
		})
	}
	if err := decoding.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSavedDamaged, err)
	}
	for i, f := range p.lines {
		if f.Whole != (i == 0) || f.More != (i < len(p.lines)-1) {
			return nil, fmt.Errorf("%w: it holds no whole picture", ErrSavedDamaged)
		}
	}
	return p, nil
}

// linesOf returns the lines of a file, of which there are two at least.
func linesOf(data io.ReaderAt, size int64) (lines [][]byte, err error) {
	for next := int64(0); next < size; {
		part, err := form.OpenPart(data, next, size)
		if err != nil {
			return nil, err
		}
		line, err := part.Next()
		for ; err == nil; line, err = part.Next() {
			lines = append(lines, bytes.Clone(line))
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		next = part.End()
	}
	if len(lines) < 2 {
		return nil, errors.New("there is no picture in it")
	}
	return lines, nil
}
