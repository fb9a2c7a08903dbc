package pane

import (
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

// The bar of a confirm window: so many cells, beside a merchant that keeps so many.
const (
	mostWindow   = 10
	leastWindow  = 5
	leastBesides = 20
)

// windowed reports whether the special thing about a card is that its confirm window
// runs out: no bar stands where something more important is said.
func (d *cards) windowed(row *intentRow) bool {
	return row.lane == laneAwaiting && row.expires.After(d.look.Now) && d.notes[row.ID].Text == "" && !row.Missing && row.Certainty == account.Verified
}

// windowBar is how many cells of a card's second line the bar takes beside its text,
// with the blank before it, and the text: the shorter one where that makes room. The
// bars of a lane are as long as each other.
func (d *cards) windowBar(row *intentRow, text string, w int) (cells int, beside string) {
	if !d.windowed(row) {
		return 0, text
	}
	for _, beside := range []string{text, "in " + text[len(text)-ageWidth:]} {
		if room := w - 1 - paint.Width(beside) - 1 - leastBesides; room >= leastWindow {
			return min(room, mostWindow) + 1, beside
		}
	}
	return 0, text
}

// drain draws what is left of the confirm window, in halves of a cell: it moves each
// few minutes.
func (d *cards) drain(l *paint.Line, row *intentRow, style paint.Style, cells int) {
	left := min(row.expires.Sub(d.look.Now), d.window)
	length := 0
	if step := d.window / time.Duration(2*cells); step > 0 {
		length = min(int((left+step-1)/step), 2*cells)
	}
	halves(l, style, length)
	l.Repeat(paint.Faint, "─", cells-(length+1)/2)
}

// halves draws a bar of so many halves of a cell.
func halves(l *paint.Line, style paint.Style, length int) {
	l.Repeat(style, "━", length/2)
	if length%2 > 0 {
		l.Put(style, "╸")
	}
}
