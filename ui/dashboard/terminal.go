package dashboard

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/layout"
)

// updateTerminal takes what is sent to the terminal, and what that tells of itself.
// A dialog with money behind it stands elsewhere on a screen of another size: keys
// count again once that has been drawn.
func (m *Model) updateTerminal(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg)
		return m.dialog.hold(m.ctx)
	case terminalMsg:
		if m.canvas != nil {
			m.canvas.Tell(string(msg))
		}
	case tea.ModeReportMsg:
		if m.canvas != nil {
			m.canvas.Learn(msg.Mode, msg.Value)
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

// resize takes a new size of the screen. A replay keeps the last line, where there
// is room for it.
func (m *Model) resize(size tea.WindowSizeMsg) {
	m.width, m.height = size.Width, size.Height
	if m.canvas != nil {
		m.canvas.Resize(m.width, m.height)
	}
	m.board.width, m.board.height = m.width, m.height
	if m.replay != nil && m.height > layout.MinHeight {
		m.board.height--
	}
	m.board.arrange()
}

// askTerminal asks the terminal what it can do, and for its ground where there are
// colours to suit it. The first picture does not wait for the answers.
func (m *Model) askTerminal() tea.Cmd {
	var questions string
	if m.canvas != nil {
		questions = m.canvas.Questions()
	}
	if !m.cfg.NoColor {
		questions += ansi.RequestBackgroundColor
	}
	if questions == "" {
		return nil
	}
	return sendTerminal(questions)
}
