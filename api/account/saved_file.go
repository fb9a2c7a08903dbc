package account

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A file of a picture is one line that names its form, the picture, and the
// SHA-256 of all before it.
const (
	pictureForm = "tillwatch picture "
	pictureLine = pictureForm + "1\n"
	mostSaved   = 1 << 30
)

func previousOf(path string) string { return path + ".previous" }

func writeChecked(file io.Writer, write func(io.Writer) error) error {
	sum := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(file, sum), 256<<10)
	if _, err := buffer.WriteString(pictureLine); err != nil {
		return err
	}
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	_, err := file.Write(sum.Sum(nil))
	return err
}

func openPicture(path string) (*savedPicture, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostSaved {
		return nil, fmt.Errorf("%s: %w: larger than any picture", filepath.Base(path), ErrSavedDamaged)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := decodePicture(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return p, nil
}

func decodePicture(content []byte) (*savedPicture, error) {
	body, err := checked(content)
	if err != nil {
		return nil, err
	}
	p := new(savedPicture)
	if err := p.decode(body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSavedDamaged, err)
	}
	return p, nil
}

// checked is what stands between the line and the sum, if they are right.
func checked(content []byte) ([]byte, error) {
	line, _, found := bytes.Cut(content, []byte("\n"))
	if !found || !bytes.HasPrefix(line, []byte(pictureForm)) || len(content) < len(line)+1+sha256.Size {
		return nil, fmt.Errorf("%w: no picture", ErrSavedDamaged)
	}
	end := len(content) - sha256.Size
	if sum := sha256.Sum256(content[:end]); !bytes.Equal(sum[:], content[end:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrSavedDamaged)
	}
	if string(line)+"\n" != pictureLine {
		return nil, fmt.Errorf("%w: %.40q", ErrSavedVersion, line)
	}
	return content[len(line)+1 : end], nil
}
