package paint

const noBreakSpace = "\u00a0"

const spaces = "                                                                                                                                "

// Line draws one line after another into the same buffer: one Line serves a whole pane.
type Line struct {
	brush  *Brush
	buf    []byte
	width  int
	at     int
	ground Ground
	open   string
	under  Ground // of the last text, as style
	style  Style
	edge   bool
}

// NewLine returns a line that draws with b.
func NewLine(b *Brush) *Line { return &Line{brush: b} }

// Start begins an empty line of width cells on the base ground.
func (l *Line) Start(width int) *Line {
	l.buf, l.width, l.at, l.ground, l.open, l.edge = l.buf[:0], max(width, 0), 0, Base, "", false
	return l
}

// Edge says that the line ends at the edge of the screen. A last cell that is a blank on
// a painted ground becomes a no-break space: captures of a terminal drop blanks at the
// end of a line together with their background.
func (l *Line) Edge() *Line {
	l.edge = true
	return l
}

// On changes the ground of what follows.
func (l *Line) On(g Ground) *Line {
	l.ground = g
	return l
}

// At returns the next column.
func (l *Line) At() int { return l.at }

// Left returns the number of free cells.
func (l *Line) Left() int { return l.width - l.at }

// Put writes s, cut with an ellipsis if the line has no room for it.
func (l *Line) Put(st Style, s string) *Line {
	l.text(st, s, l.Left())
	return l
}

// Fit writes s into exactly w cells, aligned left; a longer text is cut with an ellipsis.
func (l *Line) Fit(st Style, s string, w int) *Line {
	w = min(w, l.Left())
	if w <= 0 {
		return l
	}
	used := l.text(st, s, w)
	return l.Space(w - used)
}

// Right writes s into exactly w cells, aligned right.
func (l *Line) Right(st Style, s string, w int) *Line {
	w = min(w, l.Left())
	if w <= 0 {
		return l
	}
	l.Space(w - min(Width(s), w))
	l.text(st, s, w)
	return l
}

// Cell is Fit for a column whose w cells begin with a gap; it writes nothing if w is 0.
func (l *Line) Cell(gap int, st Style, s string, w int) *Line {
	if w <= 0 {
		return l
	}
	return l.Space(gap).Fit(st, s, w-gap)
}

// Ground returns the current ground.
func (l *Line) Ground() Ground { return l.ground }

// Space writes n blank cells. It keeps the style before them if the ground is the same and
// nothing is underlined or filled: a blank shows only its ground.
func (l *Line) Space(n int) *Line {
	n = min(n, l.Left())
	if n <= 0 {
		return l
	}
	if l.open == "" || l.under != l.ground || l.style&Underline != 0 || l.style&role == Unknown {
		l.begin(Text)
	}
	l.at += n
	for n > len(spaces) {
		l.buf = append(l.buf, spaces...)
		n -= len(spaces)
	}
	l.buf = append(l.buf, spaces[:n]...)
	return l
}

// To writes blank cells up to the column.
func (l *Line) To(column int) *Line { return l.Space(column - l.at) }

// Repeat writes a glyph, which takes one cell, n times.
func (l *Line) Repeat(st Style, glyph string, n int) *Line {
	n = min(n, l.Left())
	if n <= 0 {
		return l
	}
	l.begin(st)
	for range n {
		l.buf = append(l.buf, glyph...)
	}
	l.at += n
	return l
}

// String fills the line with blanks and returns it.
func (l *Line) String() string { return string(l.finish()) }

// Renewed is like String, but returns before if that is equal: most lines of a pane that
// is drawn again have not changed.
func (l *Line) Renewed(before string) string {
	if drawn := l.finish(); string(drawn) != before {
		return string(drawn)
	}
	return before
}

func (l *Line) finish() []byte {
	l.Space(l.Left())
	if last := len(l.buf) - 1; l.edge && last >= 0 && l.buf[last] == ' ' && l.brush.painted[l.ground] {
		l.buf = append(l.buf[:last], noBreakSpace...)
	}
	if len(l.buf) > 0 {
		l.buf = append(l.buf, "\x1b[m"...)
	}
	return l.buf
}

func (l *Line) begin(st Style) {
	l.under, l.style = l.ground, st
	if open := l.brush.open(l.ground, st); open != l.open {
		l.open = open
		l.buf = append(l.buf, open...)
	}
}

// text writes s into at most room cells and returns how many it took.
func (l *Line) text(st Style, s string, room int) int {
	if room <= 0 || s == "" {
		return 0
	}
	l.begin(st)
	if plain(s) {
		n := len(s)
		if n > room {
			l.buf = append(append(l.buf, s[:room-1]...), "…"...)
			n = room
		} else {
			l.buf = append(l.buf, s...)
		}
		l.at += n
		return n
	}
	n := l.clusters(s, room)
	l.at += n
	return n
}

// clusters writes text that is not plain ASCII, cluster by cluster.
func (l *Line) clusters(s string, room int) int {
	if fits(s, room) {
		room++ // no ellipsis is needed
	}
	used := 0
	for s != "" {
		var g glyph
		g, s = next(s)
		if used+g.cells > room-1 {
			l.buf = append(l.buf, "…"...)
			return used + 1
		}
		l.buf = g.draw(l.buf, l.brush.Clusters)
		used += g.cells
	}
	return used
}

// Width returns the number of cells that s takes when it is drawn.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	width := 0
	for s != "" {
		var g glyph
		g, s = next(s)
		width += g.cells
	}
	return width
}

// fits reports whether s takes at most the given cells. It looks no further: a text may
// be of any length.
func fits(s string, cells int) bool {
	for s != "" && cells >= 0 {
		var g glyph
		g, s = next(s)
		cells -= g.cells
	}
	return cells >= 0
}

// plain reports whether s is printable ASCII: one byte is one cell.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
