package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// helpWriter is the writer that the libraries get for help and version. It keeps write
// errors, which they ignore, and counts as a terminal if to is one.
type helpWriter struct {
	to     io.Writer
	failed error
}

// showHelp runs a command that only has subcommands.
func showHelp(c *cobra.Command, _ []string) error {
	out := &helpWriter{to: c.OutOrStdout()}
	c.SetOut(out)
	return errors.Join(c.Help(), out.failed)
}

func (o *helpWriter) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.failed = cmp.Or(o.failed, fmt.Errorf("writing the output: %w", err))
	}
	return n, err
}

// Read, Close and Fd implement [term.File].
func (o *helpWriter) Read([]byte) (int, error) { return 0, io.EOF }
func (o *helpWriter) Close() error             { return nil }

func (o *helpWriter) Fd() uintptr {
	if file, ok := o.to.(term.File); ok {
		return file.Fd()
	}
	return ^uintptr(0) // not a file
}
