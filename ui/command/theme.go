package command

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tillwatch/themes"
	"tillwatch/ui/dashboard"
)

// themeLibrary is where themes are found: the user's in the configuration
// folder, then the embedded ones.
func themeLibrary() themes.Library {
	return themes.Library{Folder: filepath.Join(configDir(), "themes")}
}

// themeAuto stands for the dark theme, or the light one where the terminal says
// that its ground is light.
const themeAuto = "auto"

// themeName is the theme to begin with.
func (s settings) themeName() string {
	if s.Theme == themeAuto {
		return "dark"
	}
	return s.Theme
}

// checkTheme refuses a theme that cannot be drawn.
func (s settings) checkTheme() error {
	if _, err := themeLibrary().Load(s.themeName()); err != nil {
		return usage(err)
	}
	return nil
}

// dress gives the dashboard its theme and those to change to. What it returns
// follows the theme's file until its context ends.
func (s settings) dress(config *dashboard.Config) (follow part, err error) {
	library, name := themeLibrary(), s.themeName()
	shown, files, err := library.LoadFiles(name)
	if err != nil {
		return nil, usage(err)
	}
	config.Theme = shown
	if chosen := config.Remembered.Theme; chosen != "" { // it is what is on the screen
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

// followTheme tells of each change of a theme's files until ctx ends. It returns
// at once for a theme that is embedded.
func followTheme(ctx context.Context, library themes.Library, name string, shown themes.Change, files themes.Files, tell func(themes.Change)) {
	if len(files) == 0 {
		return
	}
	err := followFiles(ctx, slices.Collect(maps.Keys(files)), func() []string {
		theme, now, err := library.LoadFiles(name)
		if !maps.Equal(files, now) {
			if files, shown.Err = now, err; err == nil {
				shown.Theme = theme
			}
			tell(shown)
		}
		return slices.Collect(maps.Keys(files))
	})
	if err != nil {
		shown.Err = err
		tell(shown)
	}
}

// choice are the themes that can be drawn, each name once. One of the user's
// that is broken is told of by the command themes.
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

// colourless reports whether the user wants no colour: by flag, or by an
// environment variable NO_COLOR that holds anything (no-color.org).
func colourless(c *cobra.Command) bool {
	flag, _ := c.Flags().GetBool(noColorFlag)
	return flag || os.Getenv("NO_COLOR") != ""
}

const noColorFlag = "no-color"

// settleColour makes the wish for no colour one that every library understands,
// also before the flags are parsed: most take only NO_COLOR=1 for a yes.
func settleColour(args []string) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if os.Getenv("NO_COLOR") != "" || slices.Contains(args, "--"+noColorFlag) {
		os.Setenv("NO_COLOR", "1")
	}
}
