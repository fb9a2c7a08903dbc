package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/notify"
)

// notifies reports whether the terminal gets notifications. It must then report its focus.
func (m *Model) notifies() bool { return m.cfg.Notify != "" && m.cfg.Notify != notify.Off }

// notify sends the terminal the notification that is due, if any.
func (m *Model) notify() tea.Cmd {
	if sequence := m.notifier.Take(time.Now()); sequence != "" {
		return sendTerminal(sequence)
	}
	return nil
}
