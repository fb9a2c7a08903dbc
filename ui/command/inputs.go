package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tillwatch/api"
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
	most := cmp.Or(i.most, 1<<20)
	read := func() ([]byte, error) { return readAtMost(path, most) }
	if path == "-" {
		switch {
		case i.by != "":
			return nil, usagef("%s and %s both read stdin: give one of them a file", i.by, flag)
		case i.stdin == nil:
			return nil, usagef("%s: stdin is empty", flag)
		}
		i.by, read = flag, func() ([]byte, error) { return limited(i.stdin, most) }
	}
	return unlessInterrupted(i.ctx, func() ([]byte, error) {
		text, err := read()
		if err != nil {
			return nil, usagef("%s: %w", flag, err)
		}
		return text, nil
	})
}

// text is read for what is not sent as it is.
func (i *inputs) text(flag, path string) ([]byte, error) {
	content, err := i.read(flag, path)
	if err != nil {
		return nil, err
	}
	plain, err := api.FileText(content)
	if err != nil {
		return nil, usagef("%s: %s: %w", flag, path, err)
	}
	copy(content, strings.Repeat(" ", len(content)-len(plain))) // blanks keep the offset of what is wrong
	return content, nil
}

// limited reads everything, and refuses more than most bytes.
func limited(from io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	return content, err
}

// readAtMost reads a file, and refuses one of more than most bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return limited(file, most)
}

// object reads a JSON object and keeps its numbers as they are written. Errors quote
// nothing of it.
func (i *inputs) object(flag, path string, into *map[string]any) error {
	text, err := i.text(flag, path)
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
	if wrong, ok := err.(*json.SyntaxError); ok {
		return fmt.Sprintf(", and its syntax is wrong at byte %d", wrong.Offset)
	}
	return ""
}
