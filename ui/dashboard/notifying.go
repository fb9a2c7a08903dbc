package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/notify"
)

// notifies reports whether the terminal gets notifications. It then has to report
// its focus.
func (m *Model) notifies() bool { return m.cfg.Notify != "" && m.cfg.Notify != notify.Off }

// notify sends the terminal what happened while nobody looked, once that is due.
func (m *Model) notify() tea.Cmd {
	if sequence := m.notifier.Take(time.Now()); sequence != "" {
		return sendTerminal(sequence)
	}
	return nil
}
