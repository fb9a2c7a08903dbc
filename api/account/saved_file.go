package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"tillwatch/api/account/form"
)

// mostSaved bounds the size of a picture that is read.
const mostSaved = 1 << 30

func previousOf(path string) string { return path + ".previous" }

// openPicture reads a picture's file: the parts of one whole frame.
func openPicture(path string) ([]*Frame, error) {
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
		return nil, fmt.Errorf("%s: %w: larger than any picture", filepath.Base(path), form.ErrDamaged)
	}
	frames, err := readPicture(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return frames, nil
}

// earlierForm begins the pictures of earlier versions.
const earlierForm = "tillwatch picture "

// readPicture reads a file. Every line must be sound.
func readPicture(data io.ReaderAt, size int64) ([]*Frame, error) {
	begin := make([]byte, len(earlierForm))
	if n, _ := data.ReadAt(begin, 0); string(begin[:n]) == earlierForm {
		return nil, fmt.Errorf("%w: an earlier tillwatch wrote it", form.ErrVersion)
	}
	lines, err := readLines(data, size)
	if err != nil {
		return nil, damaged(err)
	}
	frames, err := readFrames(lines)
	if err != nil {
		return nil, damaged(err)
	}
	for i, f := range frames {
		if f.Whole != (i == 0) || f.More != (i < len(frames)-1) {
			return nil, damaged(errors.New("it holds no whole picture"))
		}
	}
	if len(frames) == 0 {
		return nil, damaged(errors.New("there is no picture in it"))
	}
	return frames, nil
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

// damaged returns err as a [form.ErrDamaged], unless the picture has another version.
func damaged(err error) error {
	if errors.Is(err, form.ErrVersion) || errors.Is(err, form.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", form.ErrDamaged, err)
}

// readLines returns the lines of a file after its header.
func readLines(data io.ReaderAt, size int64) (lines [][]byte, err error) {
	err = eachLine(data, size, func(i int, line []byte) error {
		if i == 0 {
			return checkHeader(line)
		}
		lines = append(lines, bytes.Clone(line))
		return nil
	})
	return lines, err
}

// checkHeader refuses a file that holds no picture of this version.
func checkHeader(line []byte) error {
	h, err := form.ReadHeader(line)
	if err == nil && h.Kind != form.Picture {
		return errors.New("it is not a saved picture")
	}
	return err
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
