package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// mouse gives the focus to the pane that was clicked, and the click and the
// wheel to what is under the pointer.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	delta := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelRows, tea.MouseWheelDown: wheelRows}[at.Button]
	_, pressed := msg.(tea.MouseClickMsg)
	pressed = pressed && at.Button == tea.MouseLeft
	if m.dialog.open() {
		m.redraw = m.redraw || pressed || delta != 0
		if pressed {
			return m.dialogClick(at.X, at.Y)
		}
		m.dialog.scroll(delta)
		return nil
	}
	if m.pointTransport(msg) || m.layout.TooSmall {
		return nil
	}
	if pressed && at.Y == m.layout.Footer.Y {
		m.redraw = true
		return m.hints.press(m, at.X)
	}
	over, ok := m.layout.At(at.X, at.Y)
	if !ok {
		return nil
	}
	target, ok := m.panes[over].(pointed)
	if !ok {
		return nil
	}
	_, wheeled := msg.(tea.MouseWheelMsg)
	switch r := m.layout.Panes[over]; {
	case pressed:
		m.click(over, target, at.X, at.Y)
	case wheeled && delta != 0:
		target.Wheel(at.X-r.X, at.Y-r.Y, delta)
		m.redraw, m.clicked = true, clicked{}
	}
	return nil
}

// clicked is a click on a row: a second one at the same place opens what the first
// one was on, wherever that is by now.
type clicked struct {
	x, y int
	at   time.Time
	row  pane.Subject
}

// doubleWithin is how soon the second click of a double click comes.
const doubleWithin = 500 * time.Millisecond

func (c *clicked) again(x, y int) bool {
	return c.row.Kind != pane.None && y == c.y && x >= c.x-1 && x <= c.x+1 && time.Since(c.at) <= doubleWithin
}

func (m *Model) click(over layout.Pane, target pointed, x, y int) {
	m.filter, m.jump, m.redraw = nil, nil, true
	m.stayed = pane.Subject{}
	before := m.clicked
	m.clicked = clicked{}
	if before.again(x, y) {
		if m.focus != layout.Detail {
			m.before = m.focus
		}
		m.turnDetail(before.row)
		m.trail.add(before.row)
		return
	}
	r := m.layout.Panes[over]
	if tabs, ok := target.(tabbed); ok {
		if tab, ok := tabs.Tab(x-r.X, y-r.Y); ok {
			m.setFocus(layout.Events + layout.Pane(tab))
			m.followCursor()
			return
		}
	}
	if over == layout.Detail && m.focus != layout.Detail {
		m.before = m.focus
	}
	onRow := target.Click(x-r.X, y-r.Y)
	m.setFocus(over)
	m.followCursor()
	if onRow {
		m.clicked = clicked{x, y, time.Now(), m.subject()}
	}
}

func (m *Model) toggleMouse() {
	m.noMouse = !m.noMouse
	m.arranged.NoMouse = m.noMouse
	m.remember()
	if m.noMouse {
		m.say(plain, "the mouse selects text now; "+m.keyOf(action.ToggleMouse)+" takes it back")
	} else {
		m.say(plain, "the mouse points into the board")
	}
}
