package pane

import (
	"time"

	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
)

var levels = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// sparkline draws what was spent in a span, the newest at the right: each cell shows the
// largest sample in its share of the span, in eighths of limit. A cell without a report is
// a dot.
func sparkline(l *paint.Line, samples []quota.Sample, limit int64, now time.Time, span time.Duration, cells int) {
	if cells <= 0 {
		return
	}
	share := max(span/time.Duration(cells), time.Second)
	var most [mostCells]int64
	var known [mostCells]bool
	cells = min(cells, mostCells)
	for i := range samples {
		s := &samples[i]
		at, ok := cellOf(s.At, now, share, cells)
		if !ok {
			continue
		}
		spent := int64(s.Own + s.Others)
		most[at] = max(most[at], spent)
		known[at] = known[at] || s.Known || spent > 0
	}
	for at := range cells {
		switch {
		case !known[at]:
			l.Put(paint.Muted, "·")
		case most[at] == 0 || limit <= 0:
			l.Put(paint.Muted, levels[0])
		default:
			level := min(int(most[at]*int64(len(levels))/limit), len(levels)-1)
			l.Put(spentStyle(most[at], limit), levels[level])
		}
	}
}

// cellOf returns the cell of a moment, if it is one of the cells up to now. Cells begin at
// fixed times: a picture stands still until the next one begins.
func cellOf(moment, now time.Time, share time.Duration, cells int) (at int, ok bool) {
	at = cells - 1 - int(now.UnixNano()/int64(share)-moment.UnixNano()/int64(share))
	return at, at >= 0 && at < cells
}

// mostCells is the greatest width of a sparkline.
const mostCells = 60

// spentStyle highlights a cell only when the limit is spent: the height shows the rest.
func spentStyle(spent, limit int64) paint.Style {
	if spent >= limit {
		return paint.Warning
	}
	return paint.Muted
}

// gauge draws how much of a limit is used, as a bar on a thin track, in the colour of what
// is left. A single used request is visible, and so is the last one left.
func gauge(l *paint.Line, left, limit int64, cells int) {
	if cells <= 0 {
		return
	}
	filled := 0
	if limit > 0 {
		used := limit - min(max(left, 0), limit)
		filled = int((used*int64(cells) + limit - 1) / limit)
		if left > 0 && cells > 1 {
			filled = min(filled, cells-1)
		}
	}
	l.Repeat(leftStyle(left, limit), "━", filled)
	l.Repeat(paint.Faint, "─", cells-filled)
}

func leftStyle(left, limit int64) paint.Style {
	switch {
	case left <= 0:
		return paint.Bad
	case left*3 <= limit:
		return paint.Warning
	}
	return paint.Good
}
