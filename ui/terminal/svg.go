package terminal

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// The dimensions of a picture, in SVG units.
const (
	cellWidth, cellHeight = 8.4, 18.0
	fontSize, baseline    = 14, 13.5
	margin, corner        = 10.0, 8
	overlap               = 0.3 // of the next cell, against a hairline
	fonts                 = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
)

// SVG is a picture of the screen, with a title for those who cannot see it.
func (t *Terminal) SVG(title string) string { return t.screen.svg(title) }

func (s *screen) svg(title string) string {
	rows := s.cells()
	// The most common background also fills the margin.
	var common color.RGBA
	counts := map[color.RGBA]int{}
	for _, row := range rows {
		for _, cell := range row {
			_, ground := s.colours(cell)
			if counts[ground]++; counts[ground] > counts[common] {
				common = ground
			}
		}
	}
	var out strings.Builder
	width, height := float64(len(rows[0]))*cellWidth+2*margin, float64(len(rows))*cellHeight+2*margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img"><title>%s</title>`+"\n",
		number(width), number(height), html.EscapeString(title))
	fmt.Fprintf(&out, `<rect width="%s" height="%s" rx="%d" fill="%s"/>`+"\n",
		number(width), number(height), corner, hex(common))
	fmt.Fprintf(&out, `<g font-family="%s" font-size="%d" xml:space="preserve">`+"\n", fonts, fontSize)
	for y, row := range rows {
		for x := 0; x < len(row); {
			text, after := run(row, x)
			out.WriteString(s.drawn(row[x], text, x, y, after-x, common))
			x = after
		}
	}
	out.WriteString("</g>\n</svg>\n")
	return out.String()
}

// run is the text of the cells of one style from x on, and where they end. A character whose width depends on the font
// stands alone.
func run(row []uv.Cell, x int) (text string, after int) {
	first := row[x]
	for after = x; after < len(row); {
		c := row[after]
		if after > x && (c.Style != first.Style || len(c.Content) > 1 || len(first.Content) > 1) {
			break
		}
		text += cmp.Or(c.Content, " ")
		after += max(c.Width, 1)
	}
	return text, min(after, len(row))
}

// drawn draws cells of one style: their background, if it is not the common one, and their text.
func (s *screen) drawn(first uv.Cell, text string, x, y, width int, common color.RGBA) (svg string) {
	ink, ground := s.colours(first)
	left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
	if ground != common {
		svg = fmt.Sprintf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", number(left), number(top),
			number(float64(width)*cellWidth+overlap), number(cellHeight+overlap), hex(ground))
	}
	if strings.TrimSpace(strings.ReplaceAll(text, "\u00a0", " ")) == "" {
		return svg
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
	return svg + fmt.Sprintf(
		`<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		number(left), number(top+baseline), number(float64(width)*cellWidth), hex(ink), style, html.EscapeString(text))
}

// colours returns a cell's ink and ground.
func (s *screen) colours(c uv.Cell) (ink, ground color.RGBA) {
	ink = rgba(c.Style.Fg, s.emulator.ForegroundColor())
	ground = rgba(c.Style.Bg, s.emulator.BackgroundColor())
	if c.Style.Attrs&uv.AttrReverse != 0 {
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
