package dialog

import (
	"image/color"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/themes"
	cells "tillwatch/ui/dashboard/paint"
)

// paint is a theme as styles over the surface of a dialog.
type paint struct {
	theme                                            themes.Theme
	text, strong, muted, faint, accent, keys, sought shade
	good, warning, bad, money                        shade
	retrieving, awaiting, placing, completed, failed shade
	selected, selectedMuted, selectedSought, focused shade
}

func newPaint(t themes.Theme) *paint {
	on := func(foreground, background color.Color) shade {
		s := lipgloss.NewStyle()
		if foreground != nil {
			s = s.Foreground(foreground)
		}
		if background != nil {
			s = s.Background(background)
		}
		return newShade(s)
	}
	ink := func(foreground color.Color) shade { return on(foreground, t.Surface) }
	return &paint{
		theme:          t,
		text:           ink(t.Text),
		strong:         ink(t.Text).bold(),
		muted:          ink(t.Muted),
		faint:          ink(t.Faint),
		accent:         ink(t.Accent).bold(),
		keys:           ink(t.Text).bold(),
		focused:        on(t.Accent, t.Selected).bold(),
		selected:       on(t.Text, t.Selected),
		selectedMuted:  on(t.Muted, t.Selected),
		selectedSought: on(t.Accent, t.Selected).bold().underlined(),
		sought:         ink(t.Text).bold().underlined(),
		good:           ink(t.Good),
		warning:        ink(t.Warning),
		bad:            ink(t.Bad),
		money:          ink(t.Money).bold(),
		retrieving:     ink(t.Retrieving),
		awaiting:       ink(t.Awaiting),
		placing:        ink(t.Placing),
		completed:      ink(t.Completed),
		failed:         ink(t.Failed),
	}
}

// shade is a style with what it writes before and after a text made ready. What is
// drawn in one that has a target takes clicks for it.
type shade struct {
	style         lipgloss.Style
	before, after string
	target        string
}

func newShade(s lipgloss.Style) shade {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return shade{style: s, before: before, after: after}
}

func (s shade) bold() shade       { return newShade(s.style.Bold(true)) }
func (s shade) underlined() shade { return newShade(s.style.Underline(true)) }

func (s shade) clicks(target string) shade {
	s.target = target
	return s
}

func (s shade) render(text string) string {
	if text == "" {
		return ""
	}
	return s.before + text + s.after
}

// span is text in one style. Its text is scrubbed and takes the cells that it is
// taken to, wherever it came from.
type span struct {
	text  string
	style shade
}

func in(style shade, text string) span {
	return span{text: cells.Drawable(string(api.Scrub(text))), style: style}
}

// line is what stands beside each other on one line.
type line []span

func (l line) width() int {
	width := 0
	for _, s := range l {
		width += ansi.StringWidth(s.text)
	}
	return width
}

// fit renders the line in exactly width cells; what does not fit ends in an
// ellipsis, what is left over is filled.
func (l line) fit(width int, fill shade) string {
	var out strings.Builder
	left := width
	tooWide := l.width() > width
	for _, s := range l {
		if left <= 0 {
			break
		}
		text := s.text
		if tooWide && ansi.StringWidth(text) >= left {
			text = ansi.Truncate(text, left, "…")
			out.WriteString(s.style.render(text))
			left -= ansi.StringWidth(text)
			break
		}
		out.WriteString(s.style.render(text))
		left -= ansi.StringWidth(text)
	}
	if left > 0 {
		out.WriteString(fill.render(blank(left)))
	}
	if ansi.StringWidth(out.String()) != width && !l.isPlain() {
		return l.plain().fit(width, fill)
	}
	return out.String()
}

func (l line) isPlain() bool {
	for _, s := range l {
		if strings.ContainsFunc(s.text, beyondASCII) {
			return false
		}
	}
	return true
}

// plain stands in for a line whose characters join across its parts, a combining
// mark at the beginning of a name for instance: its width could not be told.
func (l line) plain() line {
	out := make(line, len(l))
	for i, s := range l {
		out[i] = span{strings.Map(func(r rune) rune {
			if beyondASCII(r) {
				return '?'
			}
			return r
		}, s.text), s.style}
	}
	return out
}

func beyondASCII(r rune) bool { return r > unicode.MaxASCII }

func blank(n int) string { return strings.Repeat(" ", max(n, 0)) }

// apart puts left and right at the two ends of width cells; left gives way.
func apart(left, right line, width int, fill shade) line {
	const gap = 2
	room := width - right.width() - gap
	if left.width() > room {
		left = left.cut(max(room, 0))
	}
	between := max(width-left.width()-right.width(), 0)
	return append(append(left[:len(left):len(left)], span{blank(between), fill}), right...)
}

// cut shortens the line to width cells, an ellipsis at its end.
func (l line) cut(width int) line {
	if l.width() <= width {
		return l
	}
	var out line
	for _, s := range l {
		w := ansi.StringWidth(s.text)
		if w >= width {
			return append(out, span{ansi.Truncate(s.text, width, "…"), s.style})
		}
		out = append(out, s)
		width -= w
	}
	return out
}

// shorten cuts the middle out of text that is wider than width: an id is told
// apart by its end.
func shorten(text string, width int) string {
	have := ansi.StringWidth(text)
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
func wrapped(style shade, text string, width int) []line {
	text = cells.Drawable(string(api.Scrub(text)))
	if width <= 0 || text == "" {
		return nil
	}
	var lines []line
	for part := range strings.SplitSeq(ansi.Wrap(text, width, ""), "\n") {
		lines = append(lines, line{span{part, style}})
	}
	return lines
}
