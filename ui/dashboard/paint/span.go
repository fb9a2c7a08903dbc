package paint

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
)

// Span is text in one style. With a target it can be clicked.
type Span struct {
	Text     string
	Style    Style
	Selected bool // drawn on the ground of the row under the cursor
	Target   string
}

// In returns text in a style. The text may come from anywhere: In scrubs it.
func In(st Style, text string) Span { return Span{Text: Drawable(string(api.Scrub(text))), Style: st} }

// Blank returns n blank cells.
func Blank(n int) Span { return Span{Text: strings.Repeat(" ", max(n, 0))} }

// Clicks returns the span with a target.
func (s Span) Clicks(target string) Span {
	s.Target = target
	return s
}

// Width returns the number of cells of the span.
func (s Span) Width() int { return Width(s.Text) }

// Spans are spans beside each other on one line.
type Spans []Span

// Width returns the number of cells of all spans.
func (l Spans) Width() int {
	width := 0
	for _, s := range l {
		width += s.Width()
	}
	return width
}

// Clicks gives all spans a target.
func (l Spans) Clicks(target string) Spans {
	for i := range l {
		l[i].Target = target
	}
	return l
}

// Select puts all spans on the ground of the row under the cursor.
func (l Spans) Select() Spans {
	for i := range l {
		l[i].Selected = true
	}
	return l
}

// Cut shortens the spans to width cells, with an ellipsis at the end.
func (l Spans) Cut(width int) Spans {
	if l.Width() <= width {
		return l
	}
	var out Spans
	for _, s := range l {
		w := s.Width()
		if w >= width {
			s.Text = ansi.Truncate(s.Text, width, "…")
			return append(out, s)
		}
		out = append(out, s)
		width -= w
	}
	return out
}

// Spans draws spans in exactly the given number of cells, on the ground Surface.
func (l *Line) Spans(spans Spans, cells int) *Line {
	end := l.At() + cells
	for _, s := range spans.Cut(cells) {
		ground := Surface
		if s.Selected {
			ground = Selected
		}
		l.On(ground).Put(s.Style, s.Text)
	}
	return l.On(Surface).To(end)
}

// Apart puts left and right at the two ends of width cells; it cuts left if necessary.
func Apart(left, right Spans, width int) Spans {
	const gap = 2
	room := width - right.Width() - gap
	if left.Width() > room {
		left = left.Cut(max(room, 0))
	}
	between := Blank(width - left.Width() - right.Width())
	return append(append(left[:len(left):len(left)], between), right...)
}

// Wrapped breaks text into lines of at most width cells.
func Wrapped(st Style, text string, width int) []Spans {
	var lines []Spans
	for _, part := range Wrap(In(st, text).Text, width) {
		lines = append(lines, Spans{In(st, part)})
	}
	return lines
}

// Shorten cuts the middle out of text that is wider than width: ids differ at their ends.
func Shorten(text string, width int) string {
	have := Width(text)
	if have <= width {
		return text
	}
	if width < 3 {
		head, _ := cut(text, max(width, 0))
		return head
	}
	at := (width - 1) / 2
	head, rest := cut(text, at)
	left := Width(rest) - (width - 1 - at) // too many for what follows the ellipsis
	for left > 0 {
		g, more := next(rest)
		left, rest = left-g.cells, more
	}
	return head + "…" + rest
}

// cut cuts a text behind the last glyph that fits into so many cells.
func cut(text string, cells int) (head, rest string) {
	for rest = text; rest != ""; {
		g, more := next(rest)
		if cells -= g.cells; cells < 0 {
			break
		}
		rest = more
	}
	return text[:len(text)-len(rest)], rest
}
