package dashboard

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tillwatch/themes"
)

func TestAThemeThatChangesIsShownAtOnce(t *testing.T) {
	mine := func(accent string) themes.Theme {
		file := filepath.Join(t.TempDir(), "mine.toml")
		if err := os.WriteFile(file, []byte("base = \"dark\"\n[colors]\naccent = \""+accent+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		theme, err := themes.Find(file)
		if err != nil {
			t.Fatal(err)
		}
		return theme
	}
	light, err := themes.Find("light")
	if err != nil {
		t.Fatal(err)
	}
	changes := make(chan themes.Change, 1)
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) {
		c.Theme, c.Themes, c.ThemeChanges = mine("#ff0001"), []themes.Theme{mine("#ff0001"), light}, changes
	})
	shows := func(colour string) bool { return strings.Contains(drawing(m), colour) }
	change := func(c themes.Change) {
		changes <- c
		if _, next := m.Update(m.themes.await(m.ctx)()); next == nil {
			t.Error("no further change is waited for")
		}
	}
	if !shows("38;2;255;0;1") {
		t.Fatal("the theme is not the one that was given")
	}

	change(themes.Change{Theme: mine("#ff0002")})
	if !shows("38;2;255;0;2") || shows("38;2;255;0;1") {
		t.Error("the changed theme is not shown")
	}
	change(themes.Change{Theme: mine("#ff0002"), Err: errors.New("theme file mine.toml: line 4: key \"colors.accent\": \x1b[2J")})
	if !shows("38;2;255;0;2") || !strings.Contains(screen(m), "mine.toml: line 4") {
		t.Errorf("after an error the old theme and the place of the error are not shown:\n%s", screen(m))
	}

	press(m, "t")
	change(themes.Change{Theme: mine("#ff0003")})
	if m.themes.chosen.Name != "light" {
		t.Errorf("theme %s after another was chosen, want light", m.themes.chosen.Name)
	}
	press(m, "t")
	if !shows("38;2;255;0;3") {
		t.Error("the theme is an old one when it is chosen again")
	}

	close(changes)
	if msg := m.themes.await(m.ctx)(); msg != nil {
		t.Errorf("after the end of changes: %v", msg)
	}
}

func TestALightGroundTakesTheLightThemeUnlessAnotherWasChosen(t *testing.T) {
	dark, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	light, err := themes.Find("light")
	if err != nil {
		t.Fatal(err)
	}
	white, black := tea.BackgroundColorMsg{Color: color.White}, tea.BackgroundColorMsg{Color: color.Black}
	cases := []struct {
		name   string
		light  *themes.Theme
		before string // keys pressed before the answer
		answer tea.Msg
		want   string
	}{
		{"a light ground", &light, "", white, "light"},
		{"a dark ground", &light, "", black, "dark"},
		{"a terminal that answers nothing", &light, "", nil, "dark"},
		{"a theme that the user named", nil, "", white, "dark"},
		{"a theme that was chosen meanwhile", &light, "t", white, "nord"},
	}
	nord, err := themes.Find("nord")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36, func(cfg *Config) {
				cfg.Theme, cfg.LightTheme, cfg.Themes = dark, c.light, []themes.Theme{dark, nord, light}
			})
			if m.askGround() == nil {
				t.Error("the terminal is not asked for its ground")
			}
			if c.before != "" {
				press(m, c.before)
			}
			m.Update(c.answer)
			if m.themes.chosen.Name != c.want {
				t.Errorf("theme %s, want %s", m.themes.chosen.Name, c.want)
			}
		})
	}
}

func TestTheTerminalsOwnColoursSuitItsGround(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	const brightYellow, magenta = ";93m", ";35m"
	if drawn := drawing(m); !strings.Contains(drawn, brightYellow) {
		t.Fatal("on a dark ground nothing is bright yellow")
	}
	m.Update(tea.BackgroundColorMsg{Color: color.White})
	if drawn := drawing(m); strings.Contains(drawn, brightYellow) || !strings.Contains(drawn, magenta) {
		t.Error("on a light ground what is urgent is bright yellow, which cannot be read there")
	}
}
