package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReasonFirst is an error of a file with its reason before the path: where a line is
// cut short, the reason is what is left. Other errors it returns as they are.
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
