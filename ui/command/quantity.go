package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

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

// spanFlag adds a flag for a time that may be in days and weeks. usual is its
// default; "": none.
func spanFlag(flags *pflag.FlagSet, to *time.Duration, name, usual, help string) {
	f := &writtenFlag[time.Duration]{to: to, read: parseAge, kind: "time"}
	if usual != "" {
		_ = f.Set(usual)
	}
	flags.Var(f, name, help)
}

// sizeFlag adds a flag for a number of bytes.
func sizeFlag(flags *pflag.FlagSet, to *int64, name, help string) {
	flags.Var(&writtenFlag[int64]{to: to, read: parseByteSize, kind: "size"}, name, help)
}

const (
	day    = 24 * time.Hour
	maxAge = 100 * 365 * day
)

// parseAge reads a time above 0, such as 90d, 2w, 12h or 1d12h.
func parseAge(text string) (time.Duration, error) {
	wrong := func() (time.Duration, error) {
		return 0, errors.New("give a time such as 90d, 2w, 12h or 30m")
	}
	var total time.Duration
	rest := text
	for _, unit := range []struct {
		sign   string
		length time.Duration
	}{{"w", 7 * day}, {"d", day}} {
		digits, after, found := strings.Cut(rest, unit.sign)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return wrong()
		}
		total += time.Duration(n) * unit.length
		rest = after
	}
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || more > maxAge {
			return wrong()
		}
		total += more
	}
	if total <= 0 || total > maxAge {
		return wrong()
	}
	return total, nil
}

// parseByteSize reads a number of bytes: 512MB, 10GB, 1GiB.
func parseByteSize(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 || text[len(text)-1] <= '9' { // a number without its unit
		return 0, errors.New("give a size such as 512MB, 10GB or 1GiB")
	}
	return int64(n), nil
}
