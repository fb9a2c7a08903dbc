package terminal

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// The dimensions of a picture, in SVG units.
const (
	cellWidth, cellHeight = 8.4, 18.0
	fontSize, baseline    = 14, 13.5
	margin, corner        = 10.0, 8
	fonts                 = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
)

// SVG writes a picture of the screen, with a title for those who cannot see it.
func (t *Terminal) SVG(w io.Writer, title string) error {
	if _, err := io.WriteString(w, t.screen.svg(title)); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// picture builds an SVG.
type picture struct {
	out    strings.Builder
	cells  *vt.Emulator
	ground color.RGBA // the most common background, which also fills the margin
}

func (s *screen) svg(title string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &picture{cells: s.emulator}
	counts := map[color.RGBA]int{}
	for y := range p.cells.Height() {
		for x := range p.cells.Width() {
			_, ground := p.colours(p.cells.CellAt(x, y))
			if counts[ground]++; counts[ground] > counts[p.ground] {
				p.ground = ground
			}
		}
	}
	width := number(float64(p.cells.Width())*cellWidth + 2*margin)
	height := number(float64(p.cells.Height())*cellHeight + 2*margin)
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img"><title>%s</title>`+"\n",
		width, height, html.EscapeString(title))
	frame := fmt.Sprintf(`<rect width="%s" height="%s" rx="%d" fill="%s"/>`, width, height, corner, hex(p.ground))
	fmt.Fprintf(&p.out, "<clipPath id=\"frame\">%s</clipPath>\n%[1]s\n", frame)
	fmt.Fprintf(&p.out, `<g clip-path="url(#frame)" font-family="%s" font-size="%d" xml:space="preserve">`+"\n",
		fonts, fontSize)
	for y := range p.cells.Height() {
		p.runs(y, func(a, b *uv.Cell) bool { return p.groundOf(a) == p.groundOf(b) }, p.rectangle)
		// A character whose width depends on the font stands alone.
		p.runs(y, func(a, b *uv.Cell) bool {
			return a.Style.Equal(&b.Style) && len(a.Content) <= 1 && len(b.Content) <= 1
		}, p.text)
	}
	p.out.WriteString("</g>\n</svg>\n")
	return p.out.String()
}

// runs draws the runs of cells of a row that go together.
func (p *picture) runs(
	y int, together func(a, b *uv.Cell) bool, draw func(x, y, width int, first *uv.Cell, text string),
) {
	for x := 0; x < p.cells.Width(); {
		from, first, text := x, p.cell(x, y), ""
		for x < p.cells.Width() && (x == from || together(first, p.cell(x, y))) {
			c := p.cell(x, y)
			if text += c.Content; c.Content == "" {
				text += " "
			}
			x += max(c.Width, 1)
		}
		draw(from, y, x-from, first, text)
	}
}

// cell is never nil.
func (p *picture) cell(x, y int) *uv.Cell {
	if c := p.cells.CellAt(x, y); c != nil {
		return c
	}
	return &uv.Cell{}
}

// rectangle fills cells of a row whose background differs from the common one, with the margin beside cells at the
// edges. It overlaps the next cell slightly to avoid a hairline.
func (p *picture) rectangle(x, y, width int, first *uv.Cell, _ string) {
	ground := p.groundOf(first)
	if ground == p.ground {
		return
	}
	left, right := margin+float64(x)*cellWidth, margin+float64(x+width)*cellWidth+0.3
	top, bottom := margin+float64(y)*cellHeight, margin+float64(y+1)*cellHeight+0.3
	if x == 0 {
		left = 0
	}
	if x+width == p.cells.Width() {
		right += margin
	}
	if y == 0 {
		top = 0
	}
	if y == p.cells.Height()-1 {
		bottom += margin
	}
	fmt.Fprintf(&p.out, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
		number(left), number(top), number(right-left), number(bottom-top), hex(ground))
}

func (p *picture) text(x, y, width int, first *uv.Cell, text string) {
	if strings.TrimSpace(strings.ReplaceAll(text, "\u00a0", " ")) == "" {
		return
	}
	style := ""
	for _, has := range []struct {
		is   bool
		mark string
	}{
		{first.Style.Attrs&uv.AttrBold != 0, ` font-weight="bold"`},
		{first.Style.Attrs&uv.AttrItalic != 0, ` font-style="italic"`},
		{first.Style.Attrs&uv.AttrFaint != 0, ` opacity="0.6"`},
		{first.Style.Underline != 0, ` text-decoration="underline"`},
	} {
		if has.is {
			style += has.mark
		}
	}
	ink, _ := p.colours(first)
	fmt.Fprintf(&p.out, `<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		number(margin+float64(x)*cellWidth), number(margin+float64(y)*cellHeight+baseline),
		number(float64(width)*cellWidth), hex(ink), style, html.EscapeString(text))
}

func (p *picture) groundOf(c *uv.Cell) color.RGBA {
	_, ground := p.colours(c)
	return ground
}

// colours returns a cell's ink and ground.
func (p *picture) colours(c *uv.Cell) (ink, ground color.RGBA) {
	style := uv.Style{}
	if c != nil {
		style = c.Style
	}
	ink, ground = rgba(style.Fg, p.cells.ForegroundColor()), rgba(style.Bg, p.cells.BackgroundColor())
	if style.Attrs&uv.AttrReverse != 0 {
		return ground, ink
	}
	return ink, ground
}

func rgba(c, otherwise color.Color) color.RGBA {
	if c == nil {
		c = otherwise
	}
	return color.RGBAModel.Convert(c).(color.RGBA)
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", f), "0"), ".0")
}
