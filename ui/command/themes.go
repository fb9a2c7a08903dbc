package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/themes"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/session"
)

func newThemes() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "themes",
		Short: "List the themes, each with a preview",
		Long: "List the themes, each with a preview in this terminal's colours; into a pipe, only the names.\n\n" +
			"A theme of your own is a file NAME.toml in " + themeLibrary().Folder + ". " +
			"`tillwatch themes show dark` prints one to start from. It is reloaded whenever you save it.",
		RunE: func(c *cobra.Command, _ []string) error {
			return listThemes(c, themeLibrary(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per theme")
	command.AddCommand(&cobra.Command{
		Use:     "show NAME",
		Short:   "Print a theme as TOML, to start your own from",
		Example: "tillwatch themes show dark > my.toml\ntillwatch demo --theme ./my.toml",
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

// themeLibrary finds themes in the configuration folder, then among the embedded
// ones.
func themeLibrary() themes.Library {
	return themes.Library{Folder: filepath.Join(config.Dir(), "themes")}
}

// themeAuto is the dark theme, or the light one on a light background.
const themeAuto = "auto"

// themeName is the theme to start with.
func themeName(s settings) string {
	if s.Theme == themeAuto {
		return "dark"
	}
	return s.Theme
}

// checkTheme refuses a theme that cannot be loaded.
func checkTheme(s settings) error {
	if _, err := themeLibrary().Load(themeName(s)); err != nil {
		return usage(err)
	}
	return nil
}

// applyTheme gives the dashboard its theme and those to switch to. The returned part
// follows the theme's file.
func applyTheme(s settings, config *dashboard.Config) (follow session.Part, err error) {
	library, name := themeLibrary(), themeName(s)
	shown, files, err := library.LoadFiles(name)
	if err != nil {
		return nil, usage(err)
	}
	config.Theme = shown
	if chosen := config.Remembered.Theme; chosen != "" { // the one on the screen
		if theme, read, err := library.LoadFiles(chosen); err == nil {
			name, shown, files = chosen, theme, read
		}
	}
	config.Watched = shown.Name
	config.Themes = choice(library, config.Theme)
	if s.Theme == themeAuto {
		light, err := library.Load("light")
		if err != nil {
			return nil, usage(err)
		}
		config.LightTheme = &light
	}
	changes := make(chan themes.Change)
	config.ThemeChanges = changes
	return func(ctx context.Context) error {
		followTheme(ctx, library, name, themes.Change{Theme: shown}, files, func(c themes.Change) {
			select {
			case changes <- c:
			case <-ctx.Done():
			}
		})
		return nil
	}, nil
}

// followTheme reports each change of a theme's files until ctx ends. For an embedded
// theme it returns at once.
func followTheme(ctx context.Context, library themes.Library, name string, shown themes.Change, files themes.Files, report func(themes.Change)) {
	if len(files) == 0 {
		return
	}
	config.Follow(ctx, slices.Collect(maps.Keys(files)), func() []string {
		theme, now, err := library.LoadFiles(name)
		if !maps.Equal(files, now) {
			if files, shown.Err = now, err; err == nil {
				shown.Theme = theme
			}
			report(shown)
		}
		return slices.Collect(maps.Keys(files))
	})
}

// choice are the usable themes, each name once. The command themes reports the user's
// broken ones.
func choice(library themes.Library, chosen themes.Theme) []themes.Theme {
	var all []themes.Theme
	for _, name := range library.Names() {
		theme, err := library.Load(name)
		switch {
		case err != nil || slices.ContainsFunc(all, func(t themes.Theme) bool { return t.Name == theme.Name }):
		case theme.Name == chosen.Name:
			all = append(all, chosen)
		default:
			all = append(all, theme)
		}
	}
	if !slices.ContainsFunc(all, func(t themes.Theme) bool { return t.Name == chosen.Name }) {
		all = append(all, chosen)
	}
	return all
}

// colourless reports whether the user wants no colour, by flag or by a non-empty
// NO_COLOR (no-color.org).
func colourless(c *cobra.Command) bool {
	flag, _ := c.Flags().GetBool(noColorFlag)
	return flag || os.Getenv("NO_COLOR") != ""
}

const noColorFlag = "no-color"

// forceNoColor sets NO_COLOR=1, even before flags are parsed, as most libraries
// understand only that value.
func forceNoColor(args []string) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if os.Getenv("NO_COLOR") != "" || slices.Contains(args, "--"+noColorFlag) {
		os.Setenv("NO_COLOR", "1")
	}
}
