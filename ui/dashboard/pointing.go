package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
)

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// mouse gives the focus to the pane that was clicked, and the click and the
// wheel to the pane under the pointer.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	delta := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelRows, tea.MouseWheelDown: wheelRows}[at.Button]
	if m.dialog.open() {
		m.dialog.scroll(delta)
		m.redraw = m.redraw || delta != 0
		return nil
	}
	if m.pointTransport(msg) {
		return nil
	}
	over, ok := m.layout.At(at.X, at.Y)
	if !ok {
		return nil
	}
	target, ok := m.panes[over].(pointed)
	if !ok {
		return nil
	}
	r := m.layout.Panes[over]
	switch msg.(type) {
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft {
			m.click(over, target, at.X-r.X, at.Y-r.Y)
		}
	case tea.MouseWheelMsg:
		if delta != 0 {
			target.Wheel(at.X-r.X, at.Y-r.Y, delta)
			m.redraw = true
		}
	}
	return nil
}

func (m *Model) click(over layout.Pane, target pointed, x, y int) {
	m.filter, m.jump = nil, nil
	if over == layout.Detail && m.focus != layout.Detail {
		m.before = m.focus
	}
	target.Click(x, y)
	m.setFocus(over)
	m.followCursor()
	m.redraw = true
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
