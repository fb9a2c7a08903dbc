package pane

import (
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

// The width of a confirm window's bar, and the least width of the merchant beside it.
const (
	mostWindow   = 10
	leastWindow  = 5
	leastBesides = 20
)

// windowed reports whether a card shows its confirm window: only if it has nothing more
// important to say.
func (d *cards) windowed(row *intentRow) bool {
	return row.lane == laneAwaiting && row.expires.After(d.look.service()) && d.notes[row.ID].Text == "" && !row.Missing && row.Certainty == account.Verified
}

// windowBar returns the width of the bar in a card's second line, with the blank before it,
// and the text beside it, shortened if that makes room. The bars of a lane have the same
// width.
func (d *cards) windowBar(row *intentRow, text string, w int) (cells int, beside string) {
	if !d.windowed(row) {
		return 0, text
	}
	for _, beside := range []string{text, strings.TrimPrefix(text, "expires ")} {
		if room := w - 1 - paint.Width(beside) - 1 - leastBesides; room >= leastWindow {
			return min(room, mostWindow) + 1, beside
		}
	}
	return 0, text
}

// drain draws what is left of the confirm window, in halves of a cell: it moves every few
// minutes.
func (d *cards) drain(l *paint.Line, row *intentRow, style paint.Style, cells int) {
	left := min(row.expires.Sub(d.look.service()), d.window)
	length := 0
	if step := d.window / time.Duration(2*cells); step > 0 {
		length = min(int((left+step-1)/step), 2*cells)
	}
	halves(l, style, length)
	l.Repeat(paint.Faint, "─", cells-(length+1)/2)
}

// bar draws what is left of the confirm window before end, unless the text before it has taken
// the room.
func (d *cards) bar(l *paint.Line, row *intentRow, style paint.Style, cells, end int) {
	if from := end - cells; d.windowed(row) && from > l.At() {
		d.drain(l.To(from), row, style, cells)
	}
	l.To(end)
}

// halves draws a bar whose length is in halves of a cell.
func halves(l *paint.Line, style paint.Style, length int) {
	l.Repeat(style, "━", length/2)
	if length%2 > 0 {
		l.Put(style, "╸")
	}
}
