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
	cellWidth  = 8.4
	cellHeight = 18.0
	fontSize   = 14.0
	baseline   = 13.5
	margin     = 10.0
	corner     = 8.0
)

// SVG writes a picture of the emulated screen, with a title for those who cannot see it.
func (t *Terminal) SVG(w io.Writer, title string) error {
	if _, err := io.WriteString(w, t.screen.svg(title)); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

func (e *emulation) svg(title string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &picture{cells: e.emulator, foreground: e.emulator.ForegroundColor(), background: e.emulator.BackgroundColor()}
	p.ground = p.commonGround()
	width, height := float64(e.emulator.Width())*cellWidth+2*margin, float64(e.emulator.Height())*cellHeight+2*margin
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img"><title>%s</title>`+"\n",
		number(width), number(height), html.EscapeString(title))
	frame := fmt.Sprintf(`<rect width="%s" height="%s" rx="%s" fill="%s"/>`, number(width), number(height), number(corner), hex(p.ground))
	fmt.Fprintf(&p.out, "<clipPath id=\"frame\">%s</clipPath>\n%[1]s\n", frame)
	fmt.Fprintf(&p.out, `<g clip-path="url(#frame)" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace" font-size="%s" xml:space="preserve">`+"\n",
		number(fontSize))
	for y := range e.emulator.Height() {
		p.grounds(y)
		p.texts(y)
	}
	p.out.WriteString("</g>\n</svg>\n")
	return p.out.String()
}

// picture builds an SVG.
type picture struct {
	out                    strings.Builder
	cells                  *vt.Emulator
	foreground, background color.Color
	ground                 color.RGBA // the most common background
}

// commonGround returns the background of most cells, which also fills the margin.
func (p *picture) commonGround() (most color.RGBA) {
	counts := map[color.RGBA]int{}
	for y := range p.cells.Height() {
		for x := range p.cells.Width() {
			ground := p.groundOf(p.cells.CellAt(x, y))
			if counts[ground]++; counts[ground] > counts[most] {
				most = ground
			}
		}
	}
	return most
}

// grounds draws the backgrounds of a row that differ from the common one.
func (p *picture) grounds(y int) {
	for x := 0; x < p.cells.Width(); {
		from, ground := x, p.groundOf(p.cells.CellAt(x, y))
		for x < p.cells.Width() && p.groundOf(p.cells.CellAt(x, y)) == ground {
			x += widthOf(p.cells.CellAt(x, y)) // the second half of a wide cell has no background
		}
		if ground != p.ground {
			p.rectangle(from, x, y, ground)
		}
	}
}

// texts draws the runs of equally styled cells of a row.
func (p *picture) texts(y int) {
	for x := 0; x < p.cells.Width(); {
		from, first := x, p.cells.CellAt(x, y)
		var text strings.Builder
		for x < p.cells.Width() {
			next := p.cells.CellAt(x, y)
			// A character whose width depends on the font stands alone.
			if x > from && (!looksLike(next, first) || !narrow(next) || !narrow(first)) {
				break
			}
			text.WriteString(content(next))
			x += widthOf(next)
		}
		if first != nil {
			p.text(from, x, y, first, text.String())
		}
	}
}

// rectangle fills cells of a row, with the margin beside cells at the edges. It overlaps
// the next cell slightly to avoid a hairline.
func (p *picture) rectangle(from, to, y int, ground color.RGBA) {
	left, right := margin+float64(from)*cellWidth, margin+float64(to)*cellWidth+0.3
	top, bottom := margin+float64(y)*cellHeight, margin+float64(y+1)*cellHeight+0.3
	if from == 0 {
		left = 0
	}
	if to == p.cells.Width() {
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

func (p *picture) text(from, to, y int, c *uv.Cell, text string) {
	if strings.TrimSpace(strings.ReplaceAll(text, "\u00a0", " ")) == "" {
		return
	}
	var style string
	if c.Style.Attrs&uv.AttrBold != 0 {
		style += ` font-weight="bold"`
	}
	if c.Style.Attrs&uv.AttrItalic != 0 {
		style += ` font-style="italic"`
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		style += ` opacity="0.6"`
	}
	if c.Style.Underline != 0 {
		style += ` text-decoration="underline"`
	}
	fmt.Fprintf(&p.out, `<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		number(margin+float64(from)*cellWidth), number(margin+float64(y)*cellHeight+baseline),
		number(float64(to-from)*cellWidth), hex(p.ink(c)), style, html.EscapeString(text))
}

func (p *picture) groundOf(c *uv.Cell) color.RGBA {
	if c != nil && c.Style.Attrs&uv.AttrReverse != 0 {
		return rgba(c.Style.Fg, p.foreground)
	}
	if c == nil {
		return rgba(nil, p.background)
	}
	return rgba(c.Style.Bg, p.background)
}

func (p *picture) ink(c *uv.Cell) color.RGBA {
	if c.Style.Attrs&uv.AttrReverse != 0 {
		return rgba(c.Style.Bg, p.background)
	}
	return rgba(c.Style.Fg, p.foreground)
}

func content(c *uv.Cell) string {
	if c == nil || c.Content == "" {
		return " "
	}
	return c.Content
}

// looksLike reports whether two cells can share a run of text.
func looksLike(a, b *uv.Cell) bool {
	return a != nil && b != nil && a.Style.Equal(&b.Style)
}

// narrow reports whether a character has the same width in every monospaced font.
func narrow(c *uv.Cell) bool { return len(content(c)) == 1 }

func widthOf(c *uv.Cell) int {
	if c == nil {
		return 1
	}
	return max(c.Width, 1)
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
