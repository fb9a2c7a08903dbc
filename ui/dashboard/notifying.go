package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/notify"
)

// notifies reports whether the terminal is told of anything, and so has to report
// its focus.
func (m *Model) notifies() bool { return m.cfg.Notify != "" && m.cfg.Notify != notify.Off }

// notify tells the terminal what was gathered while it was not looked at, once
// that is due.
func (m *Model) notify() tea.Cmd {
	if sequence := m.notifier.Take(time.Now()); sequence != "" {
		return tell(sequence)
	}
	return nil
}
