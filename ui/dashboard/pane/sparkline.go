package pane

import (
	"time"

	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
)

var levels = [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// minute is how far a sparkline looks back.
const minute = 60

// sparkline draws what was spent in the last minute, the newest at the right:
// each cell holds the most of its seconds, in eighths of the limit. A cell of
// which nothing was reported is a dot.
func sparkline(l *paint.Line, b *quota.Bucket, now time.Time, cells int) {
	if cells <= 0 {
		return
	}
	var spent [minute]int64
	var known [minute]bool
	end := now.Truncate(time.Second)
	for _, s := range b.History {
		back := int(end.Sub(s.At.Truncate(time.Second)) / time.Second)
		if back < 0 || back >= minute {
			continue
		}
		at := minute - 1 - back
		spent[at] = max(spent[at], int64(s.Own+s.Others))
		known[at] = known[at] || s.Known || s.Own+s.Others > 0
	}
	for i := range cells {
		from, to := i*minute/cells, max((i+1)*minute/cells, i*minute/cells+1)
		most, any := int64(0), false
		for at := from; at < min(to, minute); at++ {
			most, any = max(most, spent[at]), any || known[at]
		}
		switch {
		case !any:
			l.Put(paint.Faint, "·")
		case most == 0 || b.Limit <= 0:
			l.Put(paint.Faint, levels[0])
		default:
			level := min(int(most*int64(len(levels))/b.Limit), len(levels)-1)
			l.Put(spentStyle(most, b.Limit), levels[level])
		}
	}
}

// spentStyle colours what was spent of a limit: calm up to two thirds of it.
func spentStyle(spent, limit int64) paint.Style {
	switch {
	case spent >= limit:
		return paint.Bad
	case spent*3 >= limit*2:
		return paint.Warning
	}
	return paint.Muted
}

// gauge draws how much of a limit is left, as a bar on a thinner track.
func gauge(l *paint.Line, left, limit int64, cells int) {
	if cells <= 0 {
		return
	}
	filled := 0
	if limit > 0 {
		filled = int((min(max(left, 0), limit)*int64(cells) + limit - 1) / limit)
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
