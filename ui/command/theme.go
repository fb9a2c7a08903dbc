package command

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tillwatch/themes"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/session"
)

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
