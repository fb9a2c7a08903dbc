package dashboard

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tillwatch/themes"
)

// themeChoice holds the theme: the configured one for the terminal's background, or another
// that a person has chosen.
type themeChoice struct {
	cfg         *Config
	preferences *preferences
	notices     *notices
	chosen      themes.Theme
	profile     colorprofile.Profile // the terminal's colours
	lightGround bool                 // the terminal's background is light
}

func newThemeChoice(cfg *Config, preferences *preferences, notices *notices) *themeChoice {
	t := &themeChoice{cfg: cfg, preferences: preferences, notices: notices, chosen: cfg.Theme, profile: colorprofile.TrueColor}
	if cfg.NoColor {
		t.profile = colorprofile.ASCII
	}
	if at := t.find(preferences.Theme); at >= 0 {
		t.chosen = cfg.Themes[at]
	}
	return t
}

// themeMsg brings a change of the theme's file.
type themeMsg struct{ themes.Change }

// await waits for the next change of the theme's file.
func (t *themeChoice) await(ctx context.Context) tea.Cmd {
	changes := t.cfg.ThemeChanges
	if changes == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case change, open := <-changes:
			if open {
				return themeMsg{change}
			}
		case <-ctx.Done():
		}
		return nil
	}
}

// current returns the theme for the terminal's colours and background.
func (t *themeChoice) current() themes.Theme {
	theme := t.chosen.For(t.profile)
	if t.lightGround {
		return theme.OnLight()
	}
	return theme
}

// offers returns what [themeChoice.choose] takes: the configured theme, and all by their names.
func (t *themeChoice) offers() []string {
	offers := []string{"auto"}
	for _, theme := range t.cfg.Themes {
		offers = append(offers, theme.Name)
	}
	return offers
}

func (t *themeChoice) find(name string) int {
	return slices.IndexFunc(t.cfg.Themes, func(t themes.Theme) bool { return t.Name == name })
}

// setProfile sets the terminal's colours, unless colours are off.
func (t *themeChoice) setProfile(p colorprofile.Profile) {
	if !t.cfg.NoColor {
		t.profile = p
	}
}

// suitGround chooses the light theme for a light background, unless a person has chosen
// another theme.
func (t *themeChoice) suitGround(ground tea.BackgroundColorMsg) {
	if ground.Color == nil {
		return
	}
	t.lightGround = !ground.IsDark()
	if t.preferences.Theme == "" {
		t.chosen = t.configured()
	}
}

// configured returns the configured theme for the terminal's background.
func (t *themeChoice) configured() themes.Theme {
	if t.lightGround && t.cfg.LightTheme != nil {
		return *t.cfg.LightTheme
	}
	return t.cfg.Theme
}

// change applies a theme whose file has changed. A theme that was chosen meanwhile stays
// on the screen, and so does the old one after an error.
func (t *themeChoice) change(c themes.Change) {
	if c.Err != nil {
		t.notices.say(warning, "keeping the theme: "+c.Err.Error())
		return
	}
	old := t.cfg.Theme.Name
	if t.cfg.Watched != "" {
		old, t.cfg.Watched = t.cfg.Watched, c.Theme.Name
	}
	if t.cfg.Theme.Name == old {
		t.cfg.Theme = c.Theme
	}
	if at := t.find(old); at >= 0 {
		t.cfg.Themes[at] = c.Theme
	}
	if t.chosen.Name == old {
		t.chosen = c.Theme
		t.notices.say(plain, "theme: "+c.Theme.Name+", reloaded")
	}
}

// choose changes to a theme by its name; any other name means the configured one.
func (t *themeChoice) choose(name string) {
	if at := t.find(name); at >= 0 {
		t.chosen = t.cfg.Themes[at]
	} else {
		name, t.chosen = "", t.configured()
	}
	t.preferences.Theme = name
	t.preferences.keep()
}

// next changes to the next theme.
func (t *themeChoice) next() {
	t.choose(t.cfg.Themes[(t.find(t.chosen.Name)+1)%len(t.cfg.Themes)].Name)
	t.notices.say(plain, "theme: "+t.chosen.Name)
}
