package command

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// breakAtSpaces makes the help of the commands below root break lines only at spaces: the
// library that draws it also breaks at hyphens, and so within a flag.
func breakAtSpaces(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SetHelpFunc(func(c *cobra.Command, args []string) {
			c.Long = atSpaces(c.Long, helpWidth())
			root.HelpFunc()(c, args)
		})
	}
}

// helpWidth is the width of the help's text, by the library's rule.
func helpWidth() int {
	const most, indent = 120, 2
	width, _, err := term.GetSize(os.Stdout.Fd())
	if err != nil {
		width = most
	}
	return min(width, most) - indent
}

// atSpaces breaks text at spaces into lines of at most width cells. A word that is wider is broken.
func atSpaces(text string, width int) string {
	const hyphen, whole = "-", "\u2011" // at which nothing is broken
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, hyphen, whole), width, ""), whole, hyphen)
}
