// Package themes defines tillwatch's themes: a colour for each semantic role.
package themes

import (
	"image/color"
	"math"
	"slices"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
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

// roles are the colours of all roles, by their names in a theme file.
func (t *Theme) roles() map[string]*color.Color {
	return map[string]*color.Color{
		"background": &t.Background, "surface": &t.Surface, "text": &t.Text, "muted": &t.Muted, "faint": &t.Faint,
		"accent": &t.Accent, "selected": &t.Selected, "glow": &t.Glow, "retrieving": &t.Retrieving,
		"awaiting": &t.Awaiting, "placing": &t.Placing, "completed": &t.Completed, "failed": &t.Failed,
		"unlisted": &t.Unlisted, "good": &t.Good, "warning": &t.Warning, "bad": &t.Bad, "money": &t.Money,
	}
}

// reduced is a theme without a sixteen-colour form in the nearest of the sixteen
// colours, on the terminal's own background: tints of a background have no near ones.
func (t Theme) reduced() Theme {
	grounds := []*color.Color{&t.Background, &t.Surface, &t.Selected, &t.Glow, &t.Text}
	for _, c := range t.roles() {
		if _, own := (*c).(ansi.BasicColor); own || *c == nil {
			continue
		}
		*c = colorprofile.ANSI.Convert(*c)
		if slices.Contains(grounds, c) {
			*c = nil
		}
	}
	return t
}

const (
	readableContrast = 4.5  // WCAG 2.1's minimum for text
	distinct         = 0.04 // the least distance between two grounds that the eye tells apart
)

// indexed is a theme in the nearest of 256 colours that keep its text readable, and the row under the cursor apart from
// others. colorprofile's choice knows neither: in it, dark grey-blue grounds are teal.
func (t Theme) indexed() Theme {
	p := newPalette()
	grounds := []*color.Color{&t.Background, &t.Surface, &t.Glow, &t.Faint}
	for _, c := range grounds {
		*c = p.nearest(*c, func(color.Color) bool { return true })
	}
	t.Selected = p.nearest(t.Selected, func(c color.Color) bool {
		return distance(c, t.Background) >= distinct && distance(c, t.Surface) >= distinct
	})
	for _, text := range t.roles() {
		if text != &t.Selected && !slices.Contains(grounds, text) {
			*text = p.nearest(*text, func(c color.Color) bool {
				return min(contrast(c, t.Background), contrast(c, t.Surface), contrast(c, t.Selected), contrast(c, t.Glow)) >=
					readableContrast
			})
		}
	}
	return t
}

// palette is what the 240 colours look like that are the same on every terminal: a cube of 216, then 24 greys.
type palette [256 - cube]oklab

// cube is the index of the first of them.
const cube = 16

func newPalette() *palette {
	p := new(palette)
	for i := range p {
		p[i] = oklabOf(ansi.IndexedColor(cube + i))
	}
	return p
}

// nearest is the palette's colour that looks most like c, if possible among those that suit.
func (p *palette) nearest(c color.Color, suits func(color.Color) bool) color.Color {
	if _, basic := c.(ansi.BasicColor); basic || c == nil {
		return c
	}
	wanted := oklabOf(c)
	best, least := color.Color(nil), math.Inf(1)
	for i := range p {
		candidate := ansi.IndexedColor(cube + i)
		if d := p[i].distance(wanted); d < least && suits(candidate) {
			best, least = candidate, d
		}
	}
	if best == nil {
		return p.nearest(c, func(color.Color) bool { return true })
	}
	return best
}

// distance is how far apart two colours look; 1, as black from white, where one is the terminal's own.
func distance(a, b color.Color) float64 {
	if a == nil || b == nil {
		return 1
	}
	return oklabOf(a).distance(oklabOf(b))
}

// oklab is a colour in Oklab space, where distances match perception: lightness from 0 to 1, green to red, blue to
// yellow.
type oklab [3]float64

func oklabOf(c color.Color) oklab {
	shown, _ := colorful.MakeColor(c)
	l, a, b := shown.OkLab()
	return oklab{l, a, b}
}

func (a oklab) distance(b oklab) float64 {
	l, u, v := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(l*l + u*u + v*v)
}

// contrast is the contrast ratio of WCAG 2.1, from 1 to 21, the most where one is the terminal's own.
func contrast(a, b color.Color) float64 {
	if a == nil || b == nil {
		return 21
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	shown, _ := colorful.MakeColor(c)
	r, g, b := shown.LinearRgb()
	return 0.2126*r + 0.7152*g + 0.0722*b
}
