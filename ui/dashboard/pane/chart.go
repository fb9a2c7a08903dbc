package pane

import (
	"strconv"

	"tillwatch/ui/dashboard/paint"
)

// chart is a stacked bar chart over time, the newest at the right. Refusals are marked on
// the axis; a limit is a line.
//
// ntcharts distinguishes the parts of a bar only by colour, which NO_COLOR removes. It took
// 10 ms and 4 MB for one chart; this draws all five and the table below them in 2 ms and
// 31 kB.
type chart struct {
	title, note string
	noteStyle   paint.Style
	bars        []bar  // oldest first; one cell each
	limit       int    // 0: unknown
	whole       bool   // the limit is always in sight: bars are parts of it
	from, to    string // the times at both ends of the axis
	mid         string // the time at the bar midAt
	midAt       int
	empty       string // shown instead of the bars unless ""
	w, h        int
}

// bar is the values at one time.
type bar struct {
	parts  []part // from the bottom up
	known  bool   // false: drawn as a dot
	marked bool   // something was refused, or runs out
}

// part is one part of a bar. Its glyph distinguishes it without colours.
type part struct {
	n     float64
	fill  string
	style paint.Style
}

const (
	solid     = "█"
	limitLine = "▔"
	nothing   = "·"
	refusal   = "✕"
)

// The lines of a chart: title, axis and times around the plot.
const (
	aroundPlot = 3
	leastPlot  = 4
	mostPlot   = 12
)

func (c *bar) total() (n float64) {
	for _, p := range c.parts {
		n += p.n
	}
	return n
}

// top returns the value at the upper edge, and whether the limit is drawn. A limit far above
// all bars is not, as it would flatten them, unless it is the whole that they are parts of.
func (c *chart) top() (top float64, drawn bool) {
	top = c.highest()
	if limit := float64(c.limit); c.limit > 0 && (c.whole || limit <= max(4*top, 20)) {
		return max(top, limit), true
	}
	return max(top, 1), false
}

func (c *chart) highest() (most float64) {
	for i := range c.bars {
		most = max(most, c.bars[i].total())
	}
	return most
}

// row draws one of the chart's h lines, which has w cells.
func (c *chart) row(l *paint.Line, y int) {
	end := l.At() + c.w
	plot := c.h - aroundPlot
	switch {
	case y == 0:
		l.Put(paint.Text|paint.Bold, c.title)
		l.Space(end-l.At()-paint.Width(c.note)).Put(c.noteStyle, c.note)
	case c.empty != "":
		if y == 1+plot/3 {
			l.Space(2).Fit(paint.Muted, c.empty, c.w-2)
		}
	case y <= plot:
		c.plot(l, plot-y, plot)
	case y == plot+1:
		c.axis(l)
	default:
		c.times(l)
	}
	l.To(end)
}

// plot draws the r-th line of bars from the bottom.
func (c *chart) plot(l *paint.Line, r, rows int) {
	top, drawn := c.top()
	unit := top / float64(rows)
	line := -1
	if drawn {
		line = min(int((float64(c.limit)-unit/100)/unit), rows-1)
	}
	label := ""
	switch {
	case r == line:
		label = short(c.limit)
	case r == rows-1 && line < rows-2 && c.highest() > 0:
		label = short(int(top + 0.5))
	}
	l.Right(paint.Muted, label, scaleWidth-1).Space(1)
	for i := range c.bars {
		glyph, style := c.bars[i].at(float64(r)*unit, unit)
		switch {
		case glyph != "":
			l.Put(style, glyph)
		case r == line:
			l.Put(paint.Muted, limitLine)
		case r == 0 && !c.bars[i].known:
			l.Put(paint.Muted, nothing)
		default:
			l.Space(1)
		}
	}
}

// scaleWidth is the width of the figures beside a plot.
const scaleWidth = 5

// at returns the glyph of the cell that begins at a height; "" if the bar ends below. Only
// a solid fill has eighths of a cell; others fill a cell from its half on, and always the
// lowest cell.
func (c *bar) at(from, unit float64) (glyph string, style paint.Style) {
	total := c.total()
	covered := min(total-from, unit) / unit
	if covered <= 0 {
		return "", 0
	}
	most, below := -1.0, 0.0
	fill := ""
	for _, p := range c.parts {
		if share := min(below+p.n, from+unit) - max(below, from); share > most && p.n > 0 {
			most, fill, style = share, p.fill, p.style
		}
		below += p.n
	}
	switch {
	case fill == solid:
		return levels[min(int(covered*float64(len(levels))), len(levels)-1)], style
	case covered < 0.5 && from > 0:
		return "", 0
	}
	return fill, style
}

func (c *chart) axis(l *paint.Line) {
	l.Right(paint.Muted, "0", scaleWidth-1).Space(1)
	for i := range c.bars {
		if c.bars[i].marked {
			l.Put(paint.Bad, refusal)
		} else {
			l.Put(paint.Muted, "─")
		}
	}
}

func (c *chart) times(l *paint.Line) {
	from := l.At() + scaleWidth
	end := from + len(c.bars)
	l.To(from).Put(paint.Muted, c.from)
	last := end - paint.Width(c.to)
	if at := from + c.midAt - paint.Width(c.mid)/2; c.mid != "" && at > l.At() && at+paint.Width(c.mid) < last {
		l.To(at).Put(paint.Muted, c.mid)
	}
	if last > l.At() {
		l.To(last).Put(paint.Muted, c.to)
	}
}

// short writes a count in at most four cells.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000 && n%1000 >= 100:
		return strconv.Itoa(n/1000) + "." + strconv.Itoa(n%1000/100) + "k"
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n/1_000_000) + "M"
}
