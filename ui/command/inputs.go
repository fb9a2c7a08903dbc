package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// inputs reads the files that flags name, until ctx ends. Stdin can be read once.
type inputs struct {
	ctx   context.Context
	stdin io.Reader
	by    string // the flag that has read it
	most  int64  // bytes of one; 0: 1 MiB
}

func inputsOf(c *cobra.Command) *inputs { return &inputs{ctx: c.Context(), stdin: c.InOrStdin()} }

// read reads a file, or stdin if path is "-".
func (i *inputs) read(flag, path string) ([]byte, error) {
	if path != "-" {
		return unlessInterrupted(i.ctx, func() ([]byte, error) {
			file, err := os.Open(path)
			if err != nil {
				return nil, usagef("%s: %w", flag, err)
			}
			defer file.Close()
			return i.readFrom(flag, file)
		})
	}
	if i.by != "" {
		return nil, usagef("%s and %s both read stdin: give one of them a file", i.by, flag)
	}
	if i.by = flag; i.stdin == nil {
		return nil, usagef("%s: stdin is empty", flag)
	}
	return unlessInterrupted(i.ctx, func() ([]byte, error) { return i.readFrom(flag, i.stdin) })
}

func (i *inputs) readFrom(flag string, from io.Reader) ([]byte, error) {
	most := cmp.Or(i.most, 1<<20)
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	if int64(len(text)) > most {
		return nil, usagef("%s: larger than %d bytes", flag, most)
	}
	return text, nil
}

// unlessInterrupted runs a read that may never end, as of a pipe to which nobody writes.
// If ctx ends first, the read is left behind for the end of the process.
func unlessInterrupted[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// object reads a JSON object and keeps its numbers as they are written. Errors quote
// nothing of it.
func (i *inputs) object(flag, path string, into *map[string]any) error {
	text, err := i.read(flag, path)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil || *into == nil || len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		return usagef("%s: it must be one JSON object%s", flag, whereWrong(err))
	}
	return nil
}

func whereWrong(err error) string {
	if wrong, is := err.(*json.SyntaxError); is {
		return fmt.Sprintf(", and is none at byte %d", wrong.Offset)
	}
	return ""
}
