package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
)

func newThemes() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "themes",
		Short: "List the themes, each with a preview",
		Long: "List the themes, each with a preview in this terminal's colours; into a pipe, only the names.\n\n" +
			"A theme of your own is a file NAME.toml in " + themeLibrary().Folder + ". " +
			"`tillwatch themes show dark` prints one to start from. It is reloaded whenever you save it.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return listThemes(c, themeLibrary(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per theme")
	command.AddCommand(&cobra.Command{
		Use:     "show NAME",
		Short:   "Print a theme as TOML, to start your own from",
		Example: "tillwatch themes show dark > my.toml\ntillwatch demo --theme ./my.toml",
		Args:    oneArgument,
		RunE: func(c *cobra.Command, args []string) error {
			text, err := startingFrom(themeLibrary(), args[0])
			if err != nil {
				return usage(err)
			}
			_, err = io.WriteString(c.OutOrStdout(), text)
			return err
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return themeLibrary().Names(), cobra.ShellCompDirectiveNoFileComp
		},
	})
	return command
}

// themeReport is a line of `themes --json`. Fields are added, never renamed.
type themeReport struct {
	Name string `json:"name"`
	Dark bool   `json:"dark"`
	File string `json:"file,omitempty"` // of the user's own
}

// listThemes prints every theme; errors of broken ones go to stderr.
func listThemes(c *cobra.Command, library themes.Library, asJSON bool) error {
	out := c.OutOrStdout()
	width, _ := terminalSize(out)
	profile := colorprofile.Detect(out, os.Environ())
	if colourless(c) {
		profile = min(profile, colorprofile.ASCII)
	}
	for _, name := range library.Names() {
		theme, err := library.Load(name)
		if err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "tillwatch: %s\n", api.Scrub(err.Error()))
			continue
		}
		_, file, _ := library.Source(name)
		text := string(api.Scrub(name))
		if width > 0 {
			text = preview(name, theme.For(profile), width)
		}
		if err := printed(out, asJSON, themeReport{name, theme.Dark, file}, text+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// terminalSize is 0, 0 without a terminal.
func terminalSize(out io.Writer) (width, height int) {
	file, ok := out.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, _ = term.GetSize(file.Fd())
	return width, height
}

const previewWidth = 96

// preview draws a theme in one line: its name, the states, an amount and the row
// under the cursor.
func preview(name string, t themes.Theme, width int) string {
	l := paint.NewLine(paint.NewBrush(t, false)).Start(min(width, previewWidth))
	l.Space(1).Fit(paint.Text|paint.Bold, name, 18)
	for _, state := range api.IntentStates() {
		s := sign.Intent(state)
		l.Put(s.Style, s.String()).Space(2)
	}
	l.On(paint.Selected).Put(paint.Accent, "▌").Put(paint.Text, "44.52 USD ").Put(paint.Muted, "38m ")
	return l.On(paint.Base).String()
}

// startingFrom is a theme as TOML to start a file from. An embedded one becomes the
// base, so that deleted lines keep their value. A file that is not a theme is not
// printed: it may hold anything.
func startingFrom(library themes.Library, name string) (string, error) {
	data, file, err := library.Source(name)
	if err != nil {
		return "", err
	}
	if _, err := library.Load(name); err != nil {
		return "", err
	}
	if file != "" {
		lines := strings.Split(string(data), "\n")
		for i, line := range lines { // a comment may hold control sequences
			lines[i] = string(api.Scrub(strings.TrimRight(line, "\r")))
		}
		return strings.Join(lines, "\n"), nil
	}
	return strings.Replace(string(data), "\nname = ", "\n"+
		"# Save this as NAME.toml and delete what you do not change: it comes from the base.\n"+
		"# A colour is \"#rrggbb\", one of the terminal's sixteen, as in \"bright blue\", or \"default\".\n"+
		"# [basic] is for terminals of sixteen colours.\n"+
		"base = ", 1), nil
}
