package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/wording"
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
			return "there is no relay to reconnect to here"
		}
		return ""
	case account.FeedConnecting:
		return "already connecting to the relay"
	case account.FeedReplaying, account.FeedLive:
		return "the relay is connected already"
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
		return "reconnecting in " + wording.Until(left)
	}
	return "reconnecting in " + wording.Until(left) + ", " + key + " does it now"
}
