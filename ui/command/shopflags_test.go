package command

import (
	"strings"
	"testing"
)

func TestFlagsThatCannotBeMeantAreRefused(t *testing.T) {
	isolate(t)
	for _, c := range []struct{ line, want string }{
		{"simulate --speed 0", "--speed is 0; it must be above 0"},
		{"simulate --history -5", "--history is -5; it must be 0 or more"},
		{"demo --headless --speed 0", "--speed is 0; it must be above 0"},
		{"demo --headless --for -1s", "--for is -1s; it must be longer than 0"},
		{"status --wait -1s", "--wait is -1s; it must be 0 or longer"},
	} {
		code, _, said := invoke(t, strings.Fields(c.line)...)
		if code != exitUsage || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s ends with %d and says %q, want %d and a line with %q", c.line, code, said, exitUsage, c.want)
		}
	}
}
