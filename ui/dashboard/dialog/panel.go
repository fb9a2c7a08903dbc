package dialog

import (
	"slices"
	"strings"

	"tillwatch/ui/dashboard/paint"
)

// row is a line of a panel. If the panel is too low, the rows with the highest spare go first; a
// row with spare 0 never goes.
type row struct {
	paint.Spans
	spare int
}

// The order in which rows give way, the first last.
const (
	needed   = 0
	parts    = 1 // of a sum
	detail   = 2
	sentence = 4
	extra    = 5
	air      = 6
	margin   = 8
)

// whole reports whether the rows with a spare go all at once: some of the parts of a sum, or the
// beginning of a sentence or an address, would mislead.
func whole(spare int) bool { return spare == parts || spare == sentence || spare == extra }

func rows(spare int, lines ...paint.Spans) []row {
	out := make([]row, len(lines))
	for i, l := range lines {
		out[i] = row{l, spare}
	}
	return out
}

// squeeze leaves rows out until height is kept. It reports whether that was
// possible without a needed one.
func squeeze(all []row, height int) ([]row, bool) {
	kept := slices.Clone(all)
	for len(kept) > height {
		at, most := -1, needed
		for i, r := range kept {
			if r.spare >= most && r.spare > needed {
				at, most = i, r.spare
			}
		}
		if at < 0 {
			return kept[:max(height, 0)], false
		}
		if whole(most) {
			rest := slices.DeleteFunc(slices.Clone(all), func(r row) bool { return r.spare == most })
			return squeeze(rest, height)
		}
		kept = slices.Delete(kept, at, at+1)
	}
	return kept, true
}

// panel is a block with a thin rounded border that holds a title, a badge and,
// below, the keys.
type panel struct {
	pen   *paint.Line
	frame paint.Style
	title paint.Spans
	badge paint.Spans
	foot  paint.Spans
	inset int // blank cells between border and text
}

const frame = 2 // cells or lines that the two sides of the border take

// wideFoot is the width of a panel from which its foot has room for three hints.
const wideFoot = 46

// room is how many cells of text a panel of the given width has.
func (p panel) room(width int) int { return max(width-frame-2*p.inset, 0) }

// draw makes exactly height lines of exactly width cells.
func (p panel) draw(width, height int, body []row) []string {
	if width <= 0 || height <= 0 {
		return make([]string, max(height, 0))
	}
	lines := make([]string, 0, height)
	if width < 2*frame || height <= frame {
		for len(lines) < height {
			lines = append(lines, p.drawLine(width, nil))
		}
		return lines
	}
	lines = append(lines, p.edge("╭", "╮", width, p.title, p.badge))
	room := p.room(width)
	for i := range height - frame {
		var l paint.Spans
		if i < len(body) {
			l = body[i].Spans
		}
		p.pen.Start(width)
		p.pen.Spans(paint.Spans{paint.In(p.frame, "│"), paint.Blank(p.inset)}, 1+p.inset)
		p.pen.Spans(l, room)
		p.pen.Spans(paint.Spans{paint.Blank(p.inset), paint.In(p.frame, "│")}, p.inset+1)
		lines = append(lines, p.pen.String())
	}
	return append(lines, p.edge("╰", "╯", width, p.foot, nil))
}

// drawLine draws one line of the panel.
func (p panel) drawLine(width int, l paint.Spans) string {
	return p.pen.Start(width).Spans(l, width).String()
}

// edge draws a horizontal border with left and right in it, as far as they fit; right gives way
// first.
func (p panel) edge(begin, end string, width int, left, right paint.Spans) string {
	const around = 2 // a blank on both sides
	room := width - frame - 2
	set := func(l paint.Spans) paint.Spans {
		return append(append(paint.Spans{paint.Blank(1)}, l...), paint.Blank(1))
	}
	out := paint.Spans{paint.In(p.frame, begin+"─")}
	if len(left) > 0 && room >= around+1 {
		left = left.Cut(room - around)
		out = append(out, set(left)...)
		room -= left.Width() + around
	}
	var tail paint.Spans
	if len(right) > 0 && right.Width()+around < room {
		tail = set(right)
		room -= tail.Width()
	}
	out = append(append(out, paint.In(p.frame, strings.Repeat("─", max(room, 0)))), tail...)
	return p.drawLine(width, append(out, paint.In(p.frame, "─"+end)))
}

// insetFor gives wide panels more air at their sides.
func insetFor(width int) int {
	switch {
	case width >= 56:
		return 3
	case width >= 46:
		return 2
	case width >= 8:
		return 1
	}
	return 0
}
