package themes

import (
	"image/color"
	"math"

	"github.com/charmbracelet/x/ansi"
)

// cube is the index of the first of the 240 colours that are the same on every
// terminal: 216 in a cube, then 24 greys.
const cube = 16

// palette holds what these colours look like.
type palette [256 - cube]oklab

func newPalette() *palette {
	p := &palette{}
	for i := range p {
		p[i] = lightOf(ansi.IndexedColor(cube + i)).oklab()
	}
	return p
}

// nearest is the colour of the palette that looks most like c, among those that can be
// read on the grounds if there are any.
func (p *palette) nearest(c color.Color, grounds ...color.Color) color.Color {
	if c == nil {
		return nil
	}
	if _, ok := c.(ansi.BasicColor); ok {
		return c
	}
	wanted := lightOf(c).oklab()
	best, least := color.Color(nil), math.Inf(1)
	for i := range p {
		candidate := ansi.IndexedColor(cube + i)
		if d := p[i].distance(wanted); d < least && leastContrast(candidate, grounds) >= readableContrast {
			best, least = candidate, d
		}
	}
	if best == nil {
		return p.nearest(c)
	}
	return best
}

// readableContrast is the least that WCAG 2.1 asks of text.
const readableContrast = 4.5

// leastContrast is that of a colour on the ground on which it is read worst.
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
	l := lightOf(c)
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

// light is a colour as linear light: red, green and blue from 0 to 1.
type light [3]float64

func lightOf(c color.Color) light {
	r, g, b, _ := c.RGBA()
	return light{linear(r), linear(g), linear(b)}
}

// linear undoes the transfer function of sRGB (IEC 61966-2-1).
func linear(v uint32) float64 {
	s := float64(v) / 0xffff
	if s <= 0.04045 {
		return s / 12.92
	}
	return math.Pow((s+0.055)/1.055, 2.4)
}

// oklab is a colour in the space Oklab, in which distances are as large as they
// look: lightness from 0 to 1, green to red, blue to yellow.
type oklab [3]float64

func (l light) oklab() oklab {
	long := math.Cbrt(0.4122214708*l[0] + 0.5363325363*l[1] + 0.0514459929*l[2])
	medium := math.Cbrt(0.2119034982*l[0] + 0.6806995451*l[1] + 0.1073969566*l[2])
	short := math.Cbrt(0.0883024619*l[0] + 0.2817188376*l[1] + 0.6299787005*l[2])
	return oklab{
		0.2104542553*long + 0.7936177850*medium - 0.0040720468*short,
		1.9779984951*long - 2.4285922050*medium + 0.4505937099*short,
		0.0259040371*long + 0.7827717662*medium - 0.8086757660*short,
	}
}

func (a oklab) distance(b oklab) float64 {
	l, u, v := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(l*l + u*u + v*v)
}
