package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

// ink is a style with the ground that it is written on: the surface of a dialog, or
// [onSelected].
type ink uint16

const onSelected ink = 1 << 8

// The inks.
const (
	inkText     = ink(paint.Text)
	inkStrong   = ink(paint.Text | paint.Bold)
	inkMuted    = ink(paint.Muted)
	inkFaint    = ink(paint.Faint)
	inkAccent   = ink(paint.Accent | paint.Bold)
	inkSought   = ink(paint.Text | paint.Bold | paint.Underline)
	inkGood     = ink(paint.Good)
	inkWarning  = ink(paint.Warning)
	inkBad      = ink(paint.Bad)
	inkMoney    = ink(paint.Money | paint.Bold)
	inkBold     = ink(paint.Bold) // added to another
	inkFocused  = ink(paint.Accent|paint.Bold) | onSelected
	inkSelected = inkText | onSelected

	inkSelectedMuted  = inkMuted | onSelected
	inkSelectedSought = ink(paint.Accent|paint.Bold|paint.Underline) | onSelected
)

// newPen makes the line that a dialog draws all its lines with.
func newPen(t themes.Theme) *paint.Line { return paint.NewLine(paint.NewBrush(t, false)) }

// span is text in one ink. What has a target takes clicks for it.
type span struct {
	text   string
	ink    ink
	target string
}

// in is text in an ink, wherever it came from: as it will be drawn.
func in(i ink, text string) span { return span{text: paint.Drawable(string(api.Scrub(text))), ink: i} }

func space(n int) span { return span{text: blank(n)} }

func (s span) clicks(target string) span {
	s.target = target
	return s
}

// line is what stands beside each other on one line.
type line []span

func (l line) width() int {
	width := 0
	for _, s := range l {
		width += paint.Width(s.text)
	}
	return width
}

// on draws the line in the next cells of a pen, exactly so many.
func (l line) on(pen *paint.Line, cells int) {
	end := pen.At() + cells
	for _, s := range l.cut(cells) {
		ground := paint.Surface
		if s.ink&onSelected != 0 {
			ground = paint.Selected
		}
		pen.On(ground).Put(paint.Style(s.ink), s.text)
	}
	pen.On(paint.Surface).To(end)
}

func blank(n int) string { return strings.Repeat(" ", max(n, 0)) }

// apart puts left and right at the two ends of width cells; left gives way.
func apart(left, right line, width int, fill ink) line {
	const gap = 2
	room := width - right.width() - gap
	if left.width() > room {
		left = left.cut(max(room, 0))
	}
	between := max(width-left.width()-right.width(), 0)
	return append(append(left[:len(left):len(left)], in(fill, blank(between))), right...)
}

// cut shortens the line to width cells, an ellipsis at its end.
func (l line) cut(width int) line {
	if l.width() <= width {
		return l
	}
	var out line
	for _, s := range l {
		w := paint.Width(s.text)
		if w >= width {
			s.text = ansi.Truncate(s.text, width, "…")
			return append(out, s)
		}
		out = append(out, s)
		width -= w
	}
	return out
}

// shorten cuts the middle out of text that is wider than width: an id is told
// apart by its end.
func shorten(text string, width int) string {
	have := paint.Width(text)
	if have <= width {
		return text
	}
	if width < 3 {
		return ansi.Truncate(text, max(width, 0), "")
	}
	head := (width - 1) / 2
	return ansi.Truncate(text, head, "") + "…" + ansi.TruncateLeft(text, have-(width-1-head), "")
}

// wrapped breaks text into lines of at most width cells.
func wrapped(i ink, text string, width int) []line {
	var lines []line
	for _, part := range paint.Wrap(in(i, text).text, width) {
		lines = append(lines, line{in(i, part)})
	}
	return lines
}
