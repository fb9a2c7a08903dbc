// Package layout divides the screen.
package layout

import "slices"

// The smallest usable screen, in cells.
const (
	MinWidth  = 40
	MinHeight = 12
)

// MostNotice is the most lines of a notice: each of the smallest boards keeps its names below it.
const MostNotice = 3

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
	Pulse // this and the next are views: each fills the screen while it has the focus
	Failures
	Panes = int(Failures) + 1
)

// Board is the number of panes of the board: all except the detail and the views.
const Board = int(Detail)

// places is how many of them are visible at the same time: events, requests and alerts
// share one place.
const places = int(Events) + 1

// Place returns the pane that represents p's place on the screen: events for those that
// share one.
func Place(p Pane) Pane {
	if IsTab(p) {
		return Events
	}
	return p
}

// Hidden says which places a person has hidden, indexed by Intents, Shipments, Quota and
// Events.
type Hidden [places]bool

// All reports whether every place is hidden.
func (h Hidden) All() bool { return !slices.Contains(h[:], false) }

// Has reports whether the place of p is hidden; the detail and the views never are.
func (h Hidden) Has(p Pane) bool { return int(p) < Board && h[Place(p)] }

// Hideable lists the panes whose places can be hidden.
func Hideable() []Pane { return []Pane{Intents, Shipments, Quota, Events} }

// String returns the pane's name, which is also stored.
func (p Pane) String() string {
	return [Panes]string{"intents", "shipments", "quota", "events", "requests", "alerts", "detail", "pulse", "failures"}[p]
}

// IsTab reports whether a pane shares its place with others.
func IsTab(p Pane) bool { return p >= Events && p <= Alerts }

// IsView reports whether a pane fills the screen while it has the focus, and is invisible
// otherwise.
func IsView(p Pane) bool { return p > Detail }

// Arrangement is how the panes are laid out. The size of the screen decides.
type Arrangement uint8

// The arrangements.
const (
	Wide   Arrangement = iota // lanes; shipments beside quota; the tail below
	Medium                    // the same with less of everything
	Narrow                    // all panes stacked; those without focus are shrunk
)

// Rect is a part of the screen in cells, from the top left corner.
type Rect struct{ X, Y, W, H int }

// Empty reports whether the rectangle has no cells.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// contains reports whether the cell at x, y is part of r.
func (r Rect) contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Request is the input of [Arrange].
type Request struct {
	Width, Height int
	Focus         Pane
	Tab           Pane // which of the panes that share a place is visible, unless one of them has the focus
	Zoom          bool // the focused pane fills the body
	Detail        bool // the detail is open

	Hidden Hidden // the focused pane is visible even so
	Notice int    // the lines of the notice, at most MostNotice; 0 is one
	Money  bool   // a confirm has a line of its own, above the notice
}

// Layout is a divided screen. Rectangles never overlap; every cell outside them belongs to
// a gap between two.
type Layout struct {
	Arrangement Arrangement
	TooSmall    bool // if true, nothing else is set
	Header      Rect
	Money       Rect // empty unless a confirm has a line
	Notice      Rect
	Footer      Rect
	Panes       [Panes]Rect
}

// At returns the pane at x, y.
func (l Layout) At(x, y int) (Pane, bool) {
	for p, r := range l.Panes {
		if r.contains(x, y) {
			return Pane(p), true
		}
	}
	return 0, false
}

// LanesFrom is the least width for the intents in five lanes; below it they are one list.
const LanesFrom = 108

const (
	wideFrom   = 150 // columns
	mediumFrom = 110
	lowBelow   = 20 // rows; on fewer all panes are stacked

	drawerFrom = 150
	gap        = 2 // columns between panes side by side
)

// Beside reports whether a screen of a width has room for the detail beside the board.
// Otherwise the detail replaces the board.
func Beside(width int) bool { return width >= drawerFrom }

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
	if int(r.Focus) < Board {
		r.Hidden[Place(r.Focus)] = false
	}
	l.Notice.H = min(max(r.Notice, 1), MostNotice)
	if r.Money {
		l.Money = Rect{0, 1, r.Width, 1}
		l.Notice.Y, l.Notice.H = 2, min(l.Notice.H, MostNotice-1)
	}
	top := l.Notice.Y + l.Notice.H
	body := Rect{0, top, r.Width, r.Height - 1 - top}
	if r.Zoom || IsView(r.Focus) {
		l.Arrangement = r.arrangement(body.W)
		l.Panes[r.Focus] = body
		return l
	}
	if r.Detail {
		if !Beside(r.Width) {
			l.Arrangement = r.arrangement(body.W)
			l.Panes[Detail] = body
			return l
		}
		drawer := min(max(r.Width*2/5, 64), 96)
		l.Panes[Detail] = Rect{body.W - drawer, body.Y, drawer, body.H}
		body.W -= drawer + 1
	}
	l.Arrangement = r.arrangement(body.W)
	if r.Hidden.All() {
		r.Hidden[Intents] = false
	}
	if l.Arrangement == Narrow {
		l.stack(body, r.Focus, r.Tab, r.Hidden)
	} else {
		l.board(body, r.Tab, r.Hidden)
	}
	return l
}

// arrangement returns the arrangement of a board of the width.
func (r Request) arrangement(width int) Arrangement {
	switch {
	case width < mediumFrom, r.Height < lowBelow:
		return Narrow
	case width < wideFrom:
		return Medium
	}
	return Wide
}

// board gives the intents about half of the height, and the rest to the shipments and the
// quota, side by side, and to the tail. Hidden panes leave their place to the others.
func (l *Layout) board(body Rect, tab Pane, hidden Hidden) {
	whole := l.whole(body)
	share := min(max(whole*24/100, 5), 16)
	heights := [3]int{0, min(share, 14), share} // the intents; shipments and quota; the tail
	if hidden[Shipments] && hidden[Quota] {
		heights[1] = 0
	}
	if hidden[Events] {
		heights[2] = 0
	}
	rest := whole
	for _, h := range heights {
		if h > 0 {
			rest -= h + 1 // a blank line between
		}
	}
	switch {
	case !hidden[Intents]:
		heights[0] = rest
	case heights[1] > 0 && heights[2] > 0:
		heights[1] += (rest + 1) / 2
		heights[2] += rest + 1 - (rest+1)/2
	case heights[1] > 0:
		heights[1] = whole
	default:
		heights[2] = whole
	}
	y, taken := body.Y, whole-body.H // by the notice
	for i, h := range heights {
		if h == 0 {
			continue
		}
		h, taken = h-taken, 0
		row := Rect{body.X, y, body.W, h}
		switch i {
		case 0:
			l.Panes[Intents] = row
		case 1:
			l.beside(row, hidden)
		default:
			l.Panes[tab] = row
		}
		y += h + 1
	}
}

// whole is the height of a rectangle below a notice of one line. Heights are shares of it, so
// that further lines take their rows only from what is right below them.
func (l *Layout) whole(r Rect) int { return r.H + l.Notice.H - 1 }

// beside divides a row between the shipments and the quota.
func (l *Layout) beside(row Rect, hidden Hidden) {
	left := (row.W - gap) * 54 / 100
	if l.Arrangement == Medium {
		left = (row.W - gap) / 2
	}
	switch {
	case hidden[Quota]:
		l.Panes[Shipments] = row
	case hidden[Shipments]:
		l.Panes[Quota] = row
	default:
		l.Panes[Shipments] = Rect{row.X, row.Y, left, row.H}
		l.Panes[Quota] = Rect{row.X + left + gap, row.Y, row.W - left - gap, row.H}
	}
}

// stack puts all panes above each other. Those without focus shrink to their titles, or
// keep some rows if there is room; the focused pane gets the rest.
func (l *Layout) stack(body Rect, focus, tab Pane, hidden Hidden) {
	focus = Place(focus)
	if focus == Detail || hidden[focus] {
		focus = Pane(slices.Index(hidden[:], false))
	}
	var heights [places]int
	whole := l.whole(body)
	spare := whole
	for p := range heights {
		if !hidden[p] {
			heights[p] = 1
			spare--
		}
	}
	grow := func(p Pane, rows int) {
		if p != focus && rows > 0 && spare-rows >= 6 && !hidden[p] {
			heights[p] += rows
			spare -= rows
		}
	}
	grow(Intents, min(whole*2/5, 16))
	grow(Events, min(whole/4, 10))
	if whole >= 28 {
		grow(Quota, 6)
	}
	if whole >= 36 {
		grow(Shipments, min(whole/5, 10))
	}
	heights[focus] += spare - (whole - body.H)
	y := body.Y
	for p, h := range heights {
		if Pane(p) == Events {
			p = int(tab)
		}
		if h > 0 {
			l.Panes[p] = Rect{body.X, y, body.W, h}
		}
		y += h
	}
}
