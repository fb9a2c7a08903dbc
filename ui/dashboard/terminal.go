package dashboard

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/layout"
)

// updateTerminal sends sequences to the terminal and handles its reports. After a change of
// size, a dialog about money moves: keys count again once it is drawn at its new place.
func (m *Model) updateTerminal(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg)
		return m.dialog.restartQuiet(m.ctx)
	case terminalMsg:
		if m.canvas != nil {
			m.canvas.Tell(string(msg))
		}
	case tea.ModeReportMsg:
		if m.canvas != nil {
			m.canvas.Learn(msg.Mode, msg.Value)
			m.restyle() // what it can be given is known now
		}
	case tea.ColorProfileMsg:
		m.themes.setProfile(msg.Profile)
		m.restyle()
	case tea.BackgroundColorMsg:
		m.themes.suitGround(msg)
		m.restyle()
	case tea.FocusMsg:
		m.notifier.Focus()
		m.away.use(m.cfg.Now())
	case tea.BlurMsg:
		m.notifier.Blur()
		m.away.leave(unfocused, m.cfg.Now())
	}
	return nil
}

// mostCells is the most columns and lines of a terminal that are used. No screen has as many, but
// a pseudo-terminal may claim 65535, for which there is no memory.
const mostCells = 1000

// resize sets the size of the screen. A replay gets the last line if there is room.
func (m *Model) resize(size tea.WindowSizeMsg) {
	m.width, m.height = min(size.Width, mostCells), min(size.Height, mostCells)
	if m.canvas != nil {
		m.canvas.Resize(m.width, m.height)
	}
	m.board.width, m.board.height = m.width, m.height
	if m.replay != nil && m.height > layout.MinHeight {
		m.board.height--
	}
	m.board.arrange()
}

// askGround asks for the terminal's background colour unless colours are off. The first
// picture does not wait for the answer.
func (m *Model) askGround() tea.Cmd {
	if m.cfg.NoColor {
		return nil
	}
	return sendTerminal(ansi.RequestBackgroundColor)
}
