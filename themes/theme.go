// Package themes holds the looks of tillwatch: values of semantic roles.
package themes

import (
	"image/color"
	"math"

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

// Default is the name of the theme that is used where none is chosen.
const Default = "default"

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

// each returns the theme with every colour changed.
func (t Theme) each(change func(color.Color) color.Color) Theme {
	for _, c := range []*color.Color{
		&t.Background, &t.Surface, &t.Text, &t.Muted, &t.Faint, &t.Accent, &t.Selected, &t.Glow,
		&t.Retrieving, &t.Awaiting, &t.Placing, &t.Completed, &t.Failed, &t.Unlisted,
		&t.Good, &t.Warning, &t.Bad, &t.Money,
	} {
		*c = change(*c)
	}
	return t
}

// reduced is a theme without a sixteen-colour form in the nearest of the sixteen
// colours, on the terminal's own ground: tints of a ground have none that is near.
func (t Theme) reduced() Theme {
	basic := t.each(func(c color.Color) color.Color {
		if c == nil {
			return nil
		}
		return colorprofile.ANSI.Convert(c)
	})
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

// indexed is the theme in the nearest of 256 colours. The cube among them has few
// dark colours, all of them loud: a ground that has none near becomes a grey as
// light as it.
func (t Theme) indexed() Theme {
	near := t.each(nearest)
	for _, ground := range []struct{ to, from *color.Color }{
		{&near.Background, &t.Background}, {&near.Surface, &t.Surface}, {&near.Selected, &t.Selected}, {&near.Glow, &t.Glow},
	} {
		if *ground.from != nil && distance(*ground.from, *ground.to) > nearEnough {
			*ground.to = grey(*ground.from)
		}
	}
	return near
}

func nearest(c color.Color) color.Color {
	if c == nil {
		return nil
	}
	if _, ok := c.(ansi.BasicColor); ok {
		return c
	}
	near := color.Color(ansi.IndexedColor(cube))
	for i := cube + 1; i <= math.MaxUint8; i++ {
		if next := ansi.IndexedColor(i); distance(c, next) < distance(c, near) {
			near = next
		}
	}
	return near
}

func grey(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	level := int(2126*(r>>8)+7152*(g>>8)+722*(b>>8)) / 10000
	return ansi.IndexedColor(greys + min(max((level-8+5)/10, 0), 23))
}

const (
	cube       = 16  // index of the first of 216 colours
	greys      = 232 // index of the first of 24 greys
	nearEnough = 45  // of 442 from black to white
)

func distance(a, b color.Color) float64 {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	d := func(x, y uint32) float64 { return float64(x>>8) - float64(y>>8) }
	return math.Sqrt(d(ar, br)*d(ar, br) + d(ag, bg)*d(ag, bg) + d(ab, bb)*d(ab, bb))
}
