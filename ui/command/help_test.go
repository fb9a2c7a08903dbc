package command

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

func TestEveryHelpBeginsWithItsUseAndFitsInATerminal(t *testing.T) {
	t.Parallel()
	seen := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		seen++
		help := helpOf(c)
		if !strings.HasPrefix(help, "Usage: "+c.CommandPath()) || !strings.Contains(help, "\nFlags:\n") {
			t.Errorf("%s:\n%s", c.CommandPath(), help)
		}
		_, flags, _ := strings.Cut(help, "\nFlags:\n")
		for line := range strings.Lines(flags) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, inner := range c.Commands() {
			if inner.Name() != "completion" && inner.Name() != "help" {
				look(inner)
			}
		}
	}
	look(newRoot())
	if seen < 25 {
		t.Errorf("%d commands are known, want all", seen)
	}
}

func TestTextsBreakAtSpacesAlone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"or the secret in --signing-secret-file", "or the secret in\n--signing-secret-file"},
		{"for at most --give-up while", "for at most --give-up\nwhile"},
		{"a   table\nof two lines", "a   table\nof two lines"},
	} {
		if got := atSpaces(c.text, 21); got != c.want {
			t.Errorf("%q is broken into %q, want %q", c.text, got, c.want)
		}
	}
}
