package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/layout"
)

// clearOne undoes one thing: the filter, a view, the detail or the zoom.
func (m *Model) clearOne() {
	switch b := m.board; {
	case m.filters.clear():
	case layout.IsView(b.focus):
		b.toggleView(b.focus)
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

// quit ends the program. What is not written down yet is not sent. While a confirm is on its way, it asks once.
func (m *Model) quit() tea.Cmd {
	if m.batch.stop("by hand"); m.confirms.written() && !m.quitting {
		m.quitting = true
		m.notices.say(warning, "a confirm is on its way: quit again to leave before its outcome is known; the next run tells it")
		return nil
	}
	for id := range m.confirms.runs {
		m.confirms.withdraw(id)
	}
	return tea.Quit
}
