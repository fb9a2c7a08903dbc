package dashboard

import (
	"strconv"
	"strings"

	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
)

// page joins the drawn panes.
type page struct {
	line   *paint.Line
	layout *layout.Layout
	width  int
	height int
}

// panes draws the lines of the panes at their places, each line as wide as the screen. The
// lines above and below the panes stay blank.
func (p page) panes(content *[layout.Panes][]string) []string {
	lines := make([]string, p.height)
	for y := range lines {
		var b strings.Builder
		x := 0
		for i, r := range p.layout.Panes {
			if y < r.Y || y >= r.Y+r.H || r.W <= 0 {
				continue
			}
			p.gap(&b, x, r)
			b.WriteString(content[i][y-r.Y])
			x = r.X + r.W
		}
		if x < p.width {
			b.WriteString(p.line.Start(p.width - x).Edge().String())
		}
		lines[y] = b.String()
	}
	return lines
}

// gap fills the gap between two panes side by side. A thin rule divides the board from the
// detail.
func (p page) gap(b *strings.Builder, x int, r layout.Rect) {
	if r.X <= x {
		return
	}
	l := p.line.Start(r.X - x)
	if r == p.layout.Panes[layout.Detail] {
		l.Space(r.X-x-1).Put(paint.Rule, "│")
	}
	b.WriteString(l.String())
}

// tooSmall says which size the dashboard needs.
func (p page) tooSmall() []string {
	need := strconv.Itoa(layout.MinWidth) + "×" + strconv.Itoa(layout.MinHeight)
	have := strconv.Itoa(p.width) + "×" + strconv.Itoa(p.height)
	text := paint.Wrap("tillwatch needs "+need+" cells, this terminal has "+have, p.width)
	lines := make([]string, p.height)
	top := max((p.height-len(text))/2, 0)
	for y := range lines {
		l := p.line.Start(p.width).Edge()
		if at := y - top; at >= 0 && at < len(text) {
			l.Space((p.width-paint.Width(text[at]))/2).Put(paint.Muted, text[at])
		}
		lines[y] = l.String()
	}
	return lines
}
