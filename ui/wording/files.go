package wording

import (
	"fmt"
	"os"
	"strings"

	"tillwatch/api"
)

// Path is a path with ~ for the user's home.
func Path(path string) string {
	home, err := os.UserHomeDir()
	if rest, within := strings.CutPrefix(path, home+string(os.PathSeparator)); err == nil && within {
		path = "~" + string(os.PathSeparator) + rest
	}
	return string(api.Scrub(path))
}

// Bytes is a number of bytes, in units of 1,000.
func Bytes(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
