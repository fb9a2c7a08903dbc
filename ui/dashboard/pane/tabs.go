package pane

import (
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Tabs is what the panes that share a place show about each other in their titles.
type Tabs struct {
	Alerts int // number of alerts
}

var tabNames = [...]string{"EVENTS", "REQUESTS", "ALERTS"}

const tabGap = 2

// tabTitle starts the title of a pane that shares its place: its name and count and, if
// there is room, the names of the others.
func (f *frame) tabTitle(name string, count int) *paint.Line {
	f.tabEnds = [len(tabNames)]int{}
	if f.w < 76 {
		return f.title(name, count)
	}
	l := f.start()
	if f.focused {
		l.Put(paint.Accent, "▌")
	} else {
		l.Space(1)
	}
	for i, tab := range tabNames {
		if i > 0 {
			l.Space(tabGap)
		}
		switch {
		case tab == name && f.focused:
			l.Put(paint.Accent|paint.Bold, tab)
		case tab == name:
			l.Put(paint.Text|paint.Bold, tab)
		default:
			l.Put(paint.Muted, tab)
		}
		switch {
		case tab == name && count >= 0:
			l.Space(1).Put(paint.Text, wording.Count(count))
		case tab == "ALERTS" && f.look.Tabs.Alerts > 0:
			l.Space(1).Put(paint.Warning, wording.Count(f.look.Tabs.Alerts))
		}
		f.tabEnds[i] = l.At()
	}
	return l.Space(1)
}

// Tab returns which of the panes that share a place has its name at x, y.
func (f *frame) Tab(x, y int) (at int, ok bool) {
	if y != 0 {
		return 0, false
	}
	from := 1 // after the mark of the focus
	for i, end := range f.tabEnds {
		if x >= from && x < end {
			return i, true
		}
		from = end + tabGap
	}
	return 0, false
}
