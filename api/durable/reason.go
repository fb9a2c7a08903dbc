package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReasonFirst puts the reason of a file's error before the path: a line that is cut
// short still shows it. Other errors are returned unchanged.
func ReasonFirst(err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("%w: %s", file.Err, file.Path)
	case errors.As(err, &link):
		return fmt.Errorf("%w: %s", link.Err, link.New)
	}
	return err
}
