package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/pane"
)

// reconnect has a lost relay dialled now.
func (m *Model) reconnect() tea.Cmd {
	m.say(plain, "reconnecting to the relay")
	m.toast.holds = func() bool { return m.picture.summary.Feed.State == account.FeedLost }
	reconnect := m.cfg.Reconnect
	return func() tea.Msg {
		reconnect()
		return nil
	}
}

// reconnectDisabled says why there is nothing to reconnect to.
func (m *Model) reconnectDisabled() string {
	switch m.picture.summary.Feed.State {
	case account.FeedLost:
		if m.cfg.Reconnect == nil {
			return "reconnecting is not possible here"
		}
		return ""
	case account.FeedConnecting:
		return "the relay is being dialled now"
	case account.FeedReplaying, account.FeedLive:
		return "the relay is connected"
	case account.FeedRefused:
		return "the relay refuses the token: set the right one and start again"
	}
	return "no relay is configured"
}

// nextTry says when a lost relay is dialled again, and by which key now.
func (m *Model) nextTry() string {
	left := m.picture.summary.Feed.RetryAt.Sub(m.clock)
	key := m.keyOf(action.Reconnect)
	switch {
	case left <= 0:
		return "reconnecting now"
	case m.cfg.Reconnect == nil || key == "":
		return "reconnecting in " + pane.Until(left)
	}
	return "reconnecting in " + pane.Until(left) + ", " + key + " does it now"
}
