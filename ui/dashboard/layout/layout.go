// Package layout divides the screen.
package layout

// The least screen that the dashboard can be used on.
const (
	MinWidth  = 40
	MinHeight = 12
)

// Pane names a part of the screen that can have the focus.
type Pane uint8

// The panes, in the order of the tab key.
const (
	Intents Pane = iota
	Shipments
	Quota
	Events
	Requests
	Alerts
	Detail
	Panes = int(Detail) + 1
)

// Board is how many panes the board has: all but the detail.
const Board = int(Detail)

// places is how many of them are on the screen at a time: events, requests and
// alerts share one place.
const places = int(Events) + 1

// IsTab reports whether a pane shares its place with others.
func IsTab(p Pane) bool { return p >= Events && p <= Alerts }

// Arrangement is how the panes are laid out.
type Arrangement uint8

// The arrangements.
const (
	Wide   Arrangement = iota // lanes; shipments beside quota; the tail below
	Medium                    // the same with less of everything
	Narrow                    // all panes stacked, those without focus shrunk
)

// Rect is a part of the screen in cells, from the top left corner.
type Rect struct{ X, Y, W, H int }

// Empty reports whether nothing fits in.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell at x, y is part of r.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Request is what the layout depends on.
type Request struct {
	Width, Height int
	Focus         Pane
	Tab           Pane // which of events, requests and alerts is on the screen; the focused one of them is
	Zoom          bool // the focused pane has the body to itself
	Detail        bool // the detail is open
}

// Layout is a divided screen. Every cell belongs to one rectangle or to a gap
// between two; rectangles never overlap.
type Layout struct {
	Arrangement Arrangement
	TooSmall    bool // nothing else is set
	Header      Rect
	Notice      Rect
	Footer      Rect
	Panes       [Panes]Rect
}

// At returns the pane at x, y.
func (l Layout) At(x, y int) (Pane, bool) {
	for p, r := range l.Panes {
		if r.Contains(x, y) {
			return Pane(p), true
		}
	}
	return 0, false
}

const (
	wideFrom   = 150 // columns
	mediumFrom = 110
	lowBelow   = 20 // rows: below it all panes are stacked whatever the width
	drawerFrom = 150
	gap        = 2 // columns between panes side by side
)

// Arrange divides a screen.
func Arrange(r Request) Layout {
	if r.Width < MinWidth || r.Height < MinHeight {
		return Layout{TooSmall: true}
	}
	l := Layout{
		Header: Rect{0, 0, r.Width, 1},
		Notice: Rect{0, 1, r.Width, 1},
		Footer: Rect{0, r.Height - 1, r.Width, 1},
	}
	switch {
	case IsTab(r.Focus):
		r.Tab = r.Focus
	case !IsTab(r.Tab):
		r.Tab = Events
	}
	body := Rect{0, 2, r.Width, r.Height - 3}
	if r.Zoom {
		l.Arrangement = arrangement(body.W, r.Height)
		l.Panes[r.Focus] = body
		return l
	}
	if r.Detail {
		if r.Width < drawerFrom {
			l.Arrangement = arrangement(body.W, r.Height)
			l.Panes[Detail] = body
			return l
		}
		drawer := min(max(r.Width*2/5, 64), 96)
		l.Panes[Detail] = Rect{body.W - drawer, body.Y, drawer, body.H}
		body.W -= drawer + 1
	}
	l.Arrangement = arrangement(body.W, r.Height)
	if l.Arrangement == Narrow {
		l.stack(body, r.Focus, r.Tab)
	} else {
		l.board(body, r.Tab)
	}
	return l
}

func arrangement(width, height int) Arrangement {
	switch {
	case width < mediumFrom || height < lowBelow:
		return Narrow
	case width < wideFrom:
		return Medium
	}
	return Wide
}

// board gives the intents about half of the height, and what is left to the
// shipments beside the quota and to the tail.
func (l *Layout) board(body Rect, tab Pane) {
	events := min(max(body.H*24/100, 5), 16)
	middle := min(max(body.H*24/100, 5), 14)
	intents := body.H - events - middle - 2 // a blank line between
	left := (body.W - gap) * 54 / 100
	if l.Arrangement == Medium {
		left = (body.W - gap) / 2
	}
	y := body.Y
	l.Panes[Intents] = Rect{body.X, y, body.W, intents}
	y += intents + 1
	l.Panes[Shipments] = Rect{body.X, y, left, middle}
	l.Panes[Quota] = Rect{body.X + left + gap, y, body.W - left - gap, middle}
	y += middle + 1
	l.Panes[tab] = Rect{body.X, y, body.W, events}
}

// stack puts all panes above each other. The focused one gets what the others,
// shrunk to a title, leave; where there is room the tail and the quota keep some
// rows.
func (l *Layout) stack(body Rect, focus, tab Pane) {
	switch {
	case focus == Detail:
		focus = Intents
	case IsTab(focus):
		focus = Events
	}
	heights := [places]int{1, 1, 1, 1}
	spare := body.H - places
	grow := func(p Pane, rows int) {
		if p != focus && rows > 0 && spare-rows >= 6 {
			heights[p] += rows
			spare -= rows
		}
	}
	grow(Intents, min(body.H*2/5, 16))
	grow(Events, min(body.H/4, 10))
	if body.H >= 28 {
		grow(Quota, 6)
	}
	if body.H >= 36 {
		grow(Shipments, min(body.H/5, 10))
	}
	heights[focus] += spare
	y := body.Y
	for p, h := range heights {
		if Pane(p) == Events {
			p = int(tab)
		}
		l.Panes[p] = Rect{body.X, y, body.W, h}
		y += h
	}
}
