package pane

import (
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

// strip is a chart of outcomes over time, the newest at the right: completed intents go up
// from the axis, failed and expired ones go down, on one scale.
type strip struct {
	up, down []bar         // oldest first
	cells    int           // width of all bars
	step     time.Duration // of a bar
	from     time.Time     // when the first bar begins
	unit     float64       // intents per row
	rows     int           // above the axis
	below    int           // rows below the axis
	highest  float64       // intents of the highest or deepest bar
	note     string        // shown in the empty part at the left; "" for none
}

// aroundStrip is the number of lines for the axis and its times.
const aroundStrip = 2

// scales are the possible units of a row: figures beside the chart are round.
var scales = [...]float64{0.25, 0.5, 1, 2, 5}

// stripOf makes a strip of beats in w cells and h lines; width is the duration of a beat.
// Without room for each beat, one cell holds several, in fixed spans of time: the chart
// moves only when the next span begins.
func stripOf(beats []account.Beat, width time.Duration, w, h int) *strip {
	cells := max(w-scaleWidth, 1)
	each := (len(beats) + cells - 1) / cells
	if each > 1 {
		each = (len(beats) + cells - 2) / max(cells-1, 1) // the oldest span may begin earlier
	}
	s := &strip{step: width * time.Duration(each), below: max((h-aroundStrip)/3, 1)}
	s.rows = max(h-aroundStrip-s.below, 1)
	number := func(b *account.Beat) int64 { return b.At.UnixNano() / int64(s.step) }
	first := number(&beats[0])
	s.from = time.Unix(0, first*int64(s.step))
	n := int(number(&beats[len(beats)-1])-first) + 1
	s.up, s.down, s.cells = make([]bar, n), make([]bar, n), max(cells, n)
	sums := make([]account.Beat, n)
	for i := range beats {
		sum, b := &sums[number(&beats[i])-first], &beats[i]
		sum.Known = sum.Known || b.Known
		sum.Completed, sum.Failed, sum.Expired = sum.Completed+b.Completed, sum.Failed+b.Failed, sum.Expired+b.Expired
	}
	var deepest float64
	for i, sum := range sums {
		s.up[i] = bar{known: sum.Known, parts: []part{{float64(sum.Completed), solid, paint.Completed}}}
		s.down[i] = bar{parts: []part{{float64(sum.Failed), solid, paint.Failed}, {float64(sum.Expired), expiredFill, paint.Warning}}}
		s.highest, deepest = max(s.highest, s.up[i].total()), max(deepest, s.down[i].total())
	}
	above := s.rows
	if s.counted() && above > 1 {
		above-- // for the figure on the highest bar
	}
	s.unit = scaleOf(max(s.highest/float64(above), deepest/float64(s.below)))
	s.highest = max(s.highest, deepest)
	return s
}

// expiredFill distinguishes expired from failed intents without colours.
const expiredFill = "▒"

// scaleOf returns the smallest scale that is at least as large as needed.
func scaleOf(least float64) float64 {
	for times := 1.0; ; times *= 10 {
		for _, scale := range scales {
			if scale*times >= least && (times == 1 || scale >= 1) {
				return scale * times
			}
		}
	}
}

// counted reports whether there is room for a figure on each bar.
func (s *strip) counted() bool { return s.cells/len(s.up) >= 3 }

// edge returns the cell where the i-th bar begins. The bars fill the width: some are a cell
// wider than others.
func (s *strip) edge(i int) int { return i * s.cells / len(s.up) }

// unknown returns how many bars at the left are not known.
func (s *strip) unknown() int {
	n := 0
	for n < len(s.up) && !s.up[n].known {
		n++
	}
	return n
}

// row draws a line of the strip.
func (s *strip) row(l *paint.Line, y int, where *time.Location) {
	switch {
	case y < s.rows:
		s.side(l, s.up, s.rows-1-y, s.rows, false)
	case y == s.rows:
		l.Right(paint.Muted, "0", scaleWidth-1).Space(1).Repeat(paint.Muted, "─", s.cells)
	case y <= s.rows+s.below:
		s.side(l, s.down, y-s.rows-1, s.below, true)
	default:
		s.times(l, where)
	}
}

// label draws the value at a row's outer edge beside it, only at the last row with a whole
// number.
func (s *strip) label(l *paint.Line, r, rows int) {
	edge, text := float64(r+1)*s.unit, ""
	whole := func(n float64) bool { return n == float64(int(n)) }
	if whole(edge) && (r == rows-1 || !whole(float64(rows)*s.unit) && edge+1 > float64(rows)*s.unit) {
		text = short(int(edge))
	}
	l.Right(paint.Muted, text, scaleWidth-1).Space(1)
}

// side draws the r-th line from the axis of one side: completed intents above it, failed and
// expired ones below. No common glyph fills the upper eighths of a cell: below there are only
// full and half cells.
func (s *strip) side(l *paint.Line, bars []bar, r, rows int, below bool) {
	s.label(l, r, rows)
	from := l.At()
	if !below && r == rows/2 && s.note != "" {
		l.Put(paint.Muted, " "+s.note)
	}
	for i := range bars {
		if l.At() > from+s.edge(i) {
			continue // the note stands there
		}
		b := &bars[i]
		glyph, style := b.at(float64(r)*s.unit, s.unit)
		switch {
		case below && style == paint.Failed && b.total()-float64(r)*s.unit < 0.75*s.unit:
			glyph = "▀"
		case !below && glyph == "" && r == 0 && !b.known:
			glyph, style = nothing, paint.Muted
		}
		s.put(l.To(from+s.edge(i)), b, s.edge(i+1)-s.edge(i), r, glyph, style)
	}
}

// put draws a line of a bar or, beyond its end and if there is room, its count.
func (s *strip) put(l *paint.Line, b *bar, wide, r int, glyph string, style paint.Style) {
	switch {
	case glyph != "" && s.counted():
		l.Repeat(style, glyph, wide-1).Space(1)
	case glyph != "":
		l.Repeat(style, glyph, wide)
	case s.counted() && s.ends(b, wide, r):
		l.Fit(paint.Text, strconv.Itoa(int(b.total())), wide)
	default:
		l.Space(wide)
	}
}

// ends reports whether a bar ends right below a row and there is room for its count.
func (s *strip) ends(b *bar, wide, r int) bool {
	if r == 0 || len(strconv.Itoa(int(b.total()))) > wide-1 {
		return false
	}
	glyph, _ := b.at(float64(r-1)*s.unit, s.unit)
	return glyph != ""
}

// times draws the times below the chart.
func (s *strip) times(l *paint.Line, where *time.Location) {
	from := l.At() + scaleWidth
	end := from + s.cells
	l.To(from).Put(paint.Muted, s.from.In(where).Format("15:04"))
	for _, share := range []int{1, 2, 3} {
		at := len(s.up) * share / 4
		text := s.from.Add(time.Duration(at) * s.step).In(where).Format("15:04")
		if x := from + s.edge(at); x > l.At()+2 && x+len(text)+2 < end-len("now") {
			l.To(x).Put(paint.Muted, text)
		}
	}
	if last := end - len("now"); last > l.At() {
		l.To(last).Put(paint.Muted, "now")
	}
}

// trend draws how many intents entered a state in each minute, one cell a minute, the
// newest at the right.
func trend(l *paint.Line, beats []account.Beat, state api.IntentState, cells int) {
	beats = beats[len(beats)-cells:]
	highest := 1
	for i := range beats {
		highest = max(highest, beats[i].Arrivals(state))
	}
	for i := range beats {
		switch n := beats[i].Arrivals(state); {
		case n > 0:
			l.Put(paint.Muted, levels[n*(len(levels)-1)/highest])
		case beats[i].Known:
			l.Put(paint.Muted, levels[0])
		default:
			l.Put(paint.Muted, nothing)
		}
	}
}
