package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// outlet is where the libraries write help and the version. It keeps the failure of
// that, which they do not tell of. It passes for a terminal where to is one.
type outlet struct {
	to     io.Writer
	failed error
}

// showHelp is the run of a command that only has others below it.
func showHelp(c *cobra.Command, _ []string) error {
	out := &outlet{to: c.OutOrStdout()}
	c.SetOut(out)
	return errors.Join(c.Help(), out.failed)
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.failed = cmp.Or(o.failed, fmt.Errorf("writing the output: %w", err))
	}
	return n, err
}

// Read, Close and Fd make it a [term.File].
func (o *outlet) Read([]byte) (int, error) { return 0, io.EOF }
func (o *outlet) Close() error             { return nil }

func (o *outlet) Fd() uintptr {
	if file, ok := o.to.(term.File); ok {
		return file.Fd()
	}
	return ^uintptr(0) // no file at all
}
