//go:build !linux

package postgrestest

import (
	"io"
	"os"
)

// outlet is the terminal, if there is one.
func outlet() (io.WriteCloser, error) { return os.OpenFile("/dev/tty", os.O_WRONLY, 0) }
