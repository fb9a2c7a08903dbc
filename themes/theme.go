// Package themes defines tillwatch's themes: a colour for each semantic role.
package themes

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Theme gives each role a colour; nil is the terminal's own. Colour alone never
// carries a meaning: a glyph and a word come with it.
type Theme struct {
	Name string
	Dark bool

	Background color.Color // the whole screen
	Surface    color.Color // dialogs, the header
	Text       color.Color
	Muted      color.Color // secondary text
	Faint      color.Color // rules, placeholders, tracks of gauges
	Accent     color.Color // focus, and nothing else
	Selected   color.Color // background of the row under the cursor
	Glow       color.Color // background of a cell that has just changed

	Retrieving color.Color
	Awaiting   color.Color
	Placing    color.Color
	Completed  color.Color
	Failed     color.Color
	Unlisted   color.Color // a state that the contract does not list

	Good    color.Color
	Warning color.Color
	Bad     color.Color
	Money   color.Color // the frame of an environment with real money

	basic *Theme // the same look in sixteen colours
}

// Change is the result of a changed theme file: the new theme, or why it cannot be
// read and the theme that stays.
type Change struct {
	Theme Theme
	Err   error
}

// Default is the theme without a background that uses the terminal's own 16 colours.
const Default = "default"

// OnLight adapts a theme made by [Theme.For] to a terminal with a light background:
// the terminal's own colours that suit a dark background do not suit a light one.
func (t Theme) OnLight() Theme {
	if _, own := t.Awaiting.(ansi.BasicColor); !own || !t.Dark || t.Background != nil {
		return t
	}
	light, err := Find("light")
	if err != nil {
		return t
	}
	suited := *light.basic
	suited.Name = t.Name
	return suited
}

// For returns the theme as the profile can show it: in true colour, in the nearest of
// 256 colours, in its sixteen-colour form, or without colour.
func (t Theme) For(profile colorprofile.Profile) Theme {
	switch {
	case profile >= colorprofile.TrueColor:
		return t
	case profile == colorprofile.ANSI256:
		return t.indexed()
	case profile == colorprofile.ANSI && t.basic != nil:
		return *t.basic
	case profile == colorprofile.ANSI:
		return t.reduced()
	}
	return Theme{Name: t.Name, Dark: t.Dark}
}

// colours are the colours of all roles, in the order of [roles.shades].
func (t *Theme) colours() []*color.Color {
	return []*color.Color{
		&t.Background, &t.Surface, &t.Text, &t.Muted, &t.Faint, &t.Accent, &t.Selected, &t.Glow,
		&t.Retrieving, &t.Awaiting, &t.Placing, &t.Completed, &t.Failed, &t.Unlisted,
		&t.Good, &t.Warning, &t.Bad, &t.Money,
	}
}

// converted is a theme in the colours that another kind of terminal has.
func (t Theme) converted(to func(color.Color) color.Color) Theme {
	for _, c := range t.colours() {
		if *c != nil {
			*c = to(*c)
		}
	}
	return t
}

// reduced is a theme without a sixteen-colour form in the nearest of the sixteen
// colours, on the terminal's own background: tints of a background have no near ones.
func (t Theme) reduced() Theme {
	for _, c := range []*color.Color{&t.Background, &t.Surface, &t.Selected, &t.Glow, &t.Text} {
		if _, own := (*c).(ansi.BasicColor); !own {
			*c = nil
		}
	}
	return t.converted(colorprofile.ANSI.Convert)
}
