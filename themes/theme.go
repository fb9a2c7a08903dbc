// Package themes holds the looks of tillwatch: values of semantic roles.
package themes

import (
	"image/color"
	"slices"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Theme gives each role a colour. A nil colour leaves the terminal's own. Colour
// never carries a meaning alone: a glyph and a word stand beside it.
type Theme struct {
	Name string
	Dark bool

	Background color.Color // of the whole screen
	Surface    color.Color // of what lies above it: dialogs, the header
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

// Change is what became of a theme whose file has changed: the new theme, or why
// it cannot be read and the one that stays.
type Change struct {
	Theme Theme
	Err   error
}

// Default is the name of the theme that paints no ground and takes the terminal's
// own 16 colours.
const Default = "default"

// OnLight returns what can be read on a terminal whose own ground is light in place
// of a theme that [Theme.For] has made for it: the terminal's own colours that suit a
// dark ground do not suit a light one.
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

// For returns the theme as a terminal of the given profile can show it: as it is
// in true colour, in the nearest of 256 colours, in its own sixteen-colour form
// below that, and without any colour where there is none.
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

// grounds are what text stands on, and the rules, which are no text.
func (t *Theme) grounds() []*color.Color {
	return []*color.Color{&t.Background, &t.Surface, &t.Selected, &t.Glow, &t.Faint}
}

// texts are the roles that have to be read.
func (t *Theme) texts() []*color.Color {
	return []*color.Color{
		&t.Text, &t.Muted, &t.Accent, &t.Retrieving, &t.Awaiting, &t.Placing, &t.Completed, &t.Failed, &t.Unlisted,
		&t.Good, &t.Warning, &t.Bad, &t.Money,
	}
}

// indexed is a theme in the nearest of 256 colours in which its text can be read.
func (t Theme) indexed() Theme {
	p := newPalette()
	for _, c := range t.grounds() {
		*c = p.nearest(*c)
	}
	for _, c := range t.texts() {
		*c = p.nearest(*c, t.Background, t.Surface, t.Selected, t.Glow)
	}
	return t
}

// reduced is a theme without a sixteen-colour form in the nearest of the sixteen
// colours, on the terminal's own ground: tints of a ground have none that is near.
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
