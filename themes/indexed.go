package themes

import (
	"image/color"
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// cube is the index of the first of the 240 colours that are the same on every
// terminal: a cube of 216, then 24 greys.
const cube = 16

// palette holds what these colours look like.
type palette [256 - cube]oklab

func newPalette() *palette {
	p := &palette{}
	for i := range p {
		p[i] = oklabOf(ansi.IndexedColor(cube + i))
	}
	return p
}

// nearest is the palette's colour that looks most like c, if possible among those that
// suit.
func (p *palette) nearest(c color.Color, suits func(candidate color.Color) bool) color.Color {
	if c == nil {
		return nil
	}
	if _, ok := c.(ansi.BasicColor); ok {
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
		return p.nearest(c, anyColour)
	}
	return best
}

func anyColour(color.Color) bool { return true }

// readableOn accepts colours that can be read on all of the grounds.
func readableOn(grounds ...color.Color) func(color.Color) bool {
	return func(c color.Color) bool { return leastContrast(c, grounds) >= readableContrast }
}

// apartFrom accepts colours that the eye tells apart from all of the grounds.
func apartFrom(grounds ...color.Color) func(color.Color) bool {
	return func(c color.Color) bool {
		return !slices.ContainsFunc(grounds, func(g color.Color) bool { return g != nil && oklabOf(c).distance(oklabOf(g)) < distinct })
	}
}

// readableContrast is WCAG 2.1's minimum for text.
const readableContrast = 4.5

// leastContrast is a colour's worst contrast on these grounds.
func leastContrast(c color.Color, grounds []color.Color) float64 {
	least := 21.0
	for _, ground := range grounds {
		if ground != nil {
			least = min(least, contrast(c, ground))
		}
	}
	return least
}

// contrast is the contrast ratio of WCAG 2.1, from 1 to 21.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	shown, _ := colorful.MakeColor(c)
	r, g, b := shown.LinearRgb()
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// distinct is the least distance between two grounds that the eye tells apart.
const distinct = 0.04

// oklab is a colour in Oklab space, where distances match perception: lightness from
// 0 to 1, green to red, blue to yellow.
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
