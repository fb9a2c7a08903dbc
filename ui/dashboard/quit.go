package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/layout"
)

// clearOne undoes one thing: a range, the filter, a view, the detail or the zoom.
func (m *Model) clearOne() {
	switch b := m.board; {
	case b.intents.EndRange():
	case m.filters.clear():
	case layout.IsView(b.focus):
		b.toggleView(b.focus)
	case b.pulseWhole():
		b.togglePulse()
	case b.detailOpen:
		b.before = b.focus
		m.details.close()
	case b.zoom:
		b.toggleZoom()
	}
}

// suspend gives the terminal back to the shell; over is true if the program was stopped and
// continued already. Keys typed meanwhile went to the shell, so a dialog about money waits for
// quiet keys again.
func (m *Model) suspend(over bool) tea.Cmd {
	return tea.Batch(m.dialog.restartQuiet(m.ctx), m.job.Leave(m.canvas, over))
}

// repaint draws the whole screen anew.
func (m *Model) repaint() tea.Cmd {
	return func() tea.Msg {
		if m.canvas != nil {
			m.canvas.Redraw()
		}
		return nil
	}
}

// quit ends the program. While a confirm is running it asks once.
func (m *Model) quit() tea.Cmd {
	if m.batch.confirming() && !m.quitting {
		m.quitting = true
		m.notices.say(warning, "a confirm is running: quit again to leave; the audit log will have its outcome")
		return nil
	}
	return tea.Quit
}
