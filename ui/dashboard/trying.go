package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/wording"
)

// refused reports whether the service refuses the API key.
func (m *Model) refused() bool {
	return m.picture.summary.API.State == account.APIUnauthorized
}

// tryKey has a refused API key read again, where it comes from a file, and tried
// now.
func (m *Model) tryKey() tea.Cmd {
	m.say(plain, "trying the API key again")
	m.toast.holds = m.refused
	try := m.cfg.TryKey
	return func() tea.Msg {
		try()
		return nil
	}
}

// keyAdvice says what a person can do about a refused API key, and when it is
// tried again without them.
func (m *Model) keyAdvice() string {
	switch {
	case m.cfg.TryKey == nil:
		return "check TILLWATCH_API_KEY and that it belongs to this environment, then start again"
	case m.cfg.KeyFile != "":
		return "correct it in " + m.cfg.KeyFile + "; " + m.nextTrial()
	}
	return "check TILLWATCH_API_KEY and its environment; " + m.nextTrial()
}

// nextTrial says when a refused API key is tried again, and by which key now.
func (m *Model) nextTrial() string {
	at := "soon"
	if left := m.picture.summary.API.TryAt.Sub(m.clock); left > 0 {
		at = "in " + wording.Until(left)
	}
	if key := m.keyOf(action.Refresh); key != "" {
		return key + " tries again, else " + at
	}
	return "trying again " + at
}
