package command

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
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

// A terminal has 80 columns.
func TestExamplesAreShownWhole(t *testing.T) {
	t.Parallel()
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%s: %s", c.CommandPath(), line)
			}
		}
		if strings.Contains(strings.ReplaceAll(c.Example, " \\\n", " "), "\\") {
			t.Errorf("%s is broken as no shell reads on: %s", c.CommandPath(), c.Example)
		}
		for _, inner := range c.Commands() {
			look(inner)
		}
	}
	look(newRoot())
}
