package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeSpan is a flag of a duration that may be told in days and weeks: 90d, 2w, 12h,
// 1d12h. It is longer than nothing.
type timeSpan time.Duration

const (
	day    = 24 * time.Hour
	maxAge = 100 * 365 * day
)

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

func (a *timeSpan) Set(text string) error {
	d, err := parseAge(text)
	*a = timeSpan(d)
	return err
}

func (a *timeSpan) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *timeSpan) duration() time.Duration { return time.Duration(*a) }

func (*timeSpan) Type() string { return "time" }

// byteSize is a flag of a number of bytes: 512MB, 10GB, 1GiB.
type byteSize int64

func parseByteSize(text string) (int64, error) {
	units := []struct {
		sign  string
		bytes int64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	}
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.sign)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || n > (1<<62)/unit.bytes {
			break
		}
		return n * unit.bytes, nil
	}
	return 0, errors.New("give a size such as 512MB, 10GB or 1GiB")
}

func (s *byteSize) Set(text string) error {
	n, err := parseByteSize(text)
	*s = byteSize(n)
	return err
}

func (s *byteSize) String() string {
	if *s == 0 {
		return ""
	}
	return fmt.Sprintf("%dB", int64(*s))
}

func (*byteSize) Type() string { return "size" }
