// Package themes defines tillwatch's themes: a colour for each semantic role.
package themes

import (
	"image/color"
	"slices"

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

// grounds are the backgrounds of text, and the rules.
func (t *Theme) grounds() []*color.Color {
	return []*color.Color{&t.Background, &t.Surface, &t.Selected, &t.Glow, &t.Faint}
}

// texts are the roles that must be readable.
func (t *Theme) texts() []*color.Color {
	return []*color.Color{
		&t.Text, &t.Muted, &t.Accent, &t.Retrieving, &t.Awaiting, &t.Placing, &t.Completed, &t.Failed, &t.Unlisted,
		&t.Good, &t.Warning, &t.Bad, &t.Money,
	}
}

// indexed is a theme in the nearest of 256 colours that keep its text readable.
func (t Theme) indexed() Theme {
	p, selected := newPalette(), t.Selected
	for _, c := range t.grounds() {
		*c = p.nearest(*c, anyColour)
	}
	t.Selected = p.nearest(selected, apartFrom(t.Background, t.Surface))
	for _, c := range t.texts() {
		*c = p.nearest(*c, readableOn(t.Background, t.Surface, t.Selected, t.Glow))
	}
	return t
}

// reduced is a theme without a sixteen-colour form in the nearest of the sixteen
// colours, on the terminal's own background: tints of a background have no near ones.
func (t Theme) reduced() Theme {
	basic := t
	for _, c := range slices.Concat(basic.grounds(), basic.texts()) {
		if *c != nil {
			*c = colorprofile.ANSI.Convert(*c)
		}
	}
	for _, plain := range []struct{ to, from *color.Color }{
		{&basic.Background, &t.Background}, {&basic.Surface, &t.Surface}, {&basic.Selected, &t.Selected},
		{&basic.Glow, &t.Glow}, {&basic.Text, &t.Text},
	} {
		if _, ok := (*plain.from).(ansi.BasicColor); !ok {
			*plain.to = nil
		}
	}
	return basic
}
