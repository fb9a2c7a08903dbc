package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/config"
)

// inputs reads the files that flags name, until ctx ends. Stdin can be read once.
type inputs struct {
	ctx   context.Context
	stdin io.Reader
	by    string // the flag that has read it
	most  int64  // bytes of one; 0: 1 MiB
}

// read reads a file, or stdin if path is "-".
func (i *inputs) read(flag, path string) ([]byte, error) {
	most := cmp.Or(i.most, config.MostBytes)
	read := func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return config.ReadAll(file, most)
	}
	if path == "-" {
		switch {
		case i.by != "":
			return nil, usagef("%s and %s both read stdin: give one of them a file", i.by, flag)
		case i.stdin == nil:
			return nil, usagef("%s: stdin is empty", flag)
		}
		i.by, read = flag, func() ([]byte, error) { return config.ReadAll(i.stdin, most) }
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

// object reads a JSON object and keeps its numbers as they are written. Errors quote nothing of it.
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

// writtenFlag is a flag that keeps its text, and the value that read makes of it.
type writtenFlag[T any] struct {
	to   *T
	read func(string) (T, error)
	text string
	kind string // for the help
}

func (f *writtenFlag[T]) Set(text string) error {
	value, err := f.read(text)
	if err == nil {
		*f.to, f.text = value, text
	}
	return err
}

func (f *writtenFlag[T]) String() string { return f.text }
func (f *writtenFlag[T]) Type() string   { return f.kind }

// spanFlag adds a flag for a time that may be in days and weeks. usual is its default; "": none.
func spanFlag(flags *pflag.FlagSet, to *time.Duration, name, usual, help string) {
	f := &writtenFlag[time.Duration]{to: to, read: parseAge, kind: "time"}
	if usual != "" {
		_ = f.Set(usual)
	}
	flags.Var(f, name, help)
}

const (
	day    = 24 * time.Hour
	maxAge = 100 * 365 * day
)

// parseAge reads a time above 0, such as 90d, 2w, 12h or 1h30m.
func parseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if digits, found := strings.CutSuffix(text, unit); found {
			n, wrong := strconv.ParseUint(digits, 10, 16)
			age, err = time.Duration(n)*length, wrong
		}
	}
	if err != nil || age <= 0 || age > maxAge {
		return 0, errors.New("give a time such as 90d, 2w, 12h or 30m")
	}
	return age, nil
}
