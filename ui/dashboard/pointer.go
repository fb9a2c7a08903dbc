package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// pointer passes clicks and the wheel to the pane under the mouse.
type pointer struct {
	*shared
	details *details
	off     bool    // the mouse belongs to the terminal
	last    clicked // the last click on a row
}

// wheelRows is how many rows one notch of the wheel scrolls.
const wheelRows = 3

// wheel returns by how many rows the wheel was turned; 0 for anything else.
func wheel(at tea.Mouse) int {
	return map[tea.MouseButton]int{tea.MouseWheelUp: -wheelRows, tea.MouseWheelDown: wheelRows}[at.Button]
}

// clicked is a click on a row. A second click at the same place opens the row of the first
// one, even if that has moved.
type clicked struct {
	x, y int
	at   time.Time
	row  pane.Subject
}

// doubleWithin is the longest time between the clicks of a double click.
const doubleWithin = 500 * time.Millisecond

func (c *clicked) again(x, y int) bool {
	return c.row.Kind != pane.None && y == c.y && x >= c.x-1 && x <= c.x+1 && time.Since(c.at) <= doubleWithin
}

// scroll passes the wheel to a pane.
func (p *pointer) scroll(at tea.Mouse) {
	over, ok := p.board.layout.At(at.X, at.Y)
	if !ok {
		return
	}
	r := p.board.layout.Panes[over]
	p.board.panes[over].Wheel(at.X-r.X, at.Y-r.Y, wheel(at))
	p.last = clicked{}
}

// click gives the clicked pane the focus and passes it the click.
func (p *pointer) click(x, y int) {
	over, ok := p.board.layout.At(x, y)
	if !ok {
		return
	}
	before := p.last
	p.last = clicked{}
	if before.again(x, y) {
		p.details.open(before.row)
		return
	}
	r, target := p.board.layout.Panes[over], p.board.panes[over]
	if tab, ok := target.Tab(x-r.X, y-r.Y); ok {
		p.board.setFocus(layout.Events + layout.Pane(tab))
		p.details.follow()
		return
	}
	if over == layout.Detail {
		p.board.rememberFocus()
	}
	onRow := target.Click(x-r.X, y-r.Y)
	p.board.setFocus(over)
	p.details.follow()
	if onRow {
		p.last = clicked{x, y, time.Now(), p.board.subject()}
	}
}

// toggle gives the mouse to the terminal, or takes it back.
func (p *pointer) toggle() {
	p.off = !p.off
	p.preferences.NoMouse = p.off
	p.preferences.keep()
	if p.off {
		p.notices.say(plain, "the mouse selects text now; "+p.cfg.Actions.KeyOf(action.ToggleMouse)+" takes it back")
	} else {
		p.notices.say(plain, "the mouse controls the board")
	}
}
