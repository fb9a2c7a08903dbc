package dashboard

import (
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/account"
)

// progress has the terminal show work under way in its own bar (OSC 9;4): a batch
// that confirms, or a history that loads.
func (m *Model) progress() string {
	feed := m.picture.summary.Feed
	switch {
	case m.batch.queue != nil:
		return m.batch.queue.progress()
	case feed.State != account.FeedReplaying:
		return ""
	case m.replayFrom == noReplay || feed.Head <= m.replayFrom:
		return ansi.SetIndeterminateProgressBar
	}
	done := max(feed.Cursor-m.replayFrom, 0) * 100 / (feed.Head - m.replayFrom)
	return ansi.SetProgressBar(int(min(done, 100)))
}

// noReplay stands for no history that loads.
const noReplay = -1

// watchReplay notes where the loading of a history began.
func (m *Model) watchReplay() {
	switch feed := m.picture.summary.Feed; {
	case feed.State != account.FeedReplaying:
		m.replayFrom = noReplay
	case m.replayFrom == noReplay:
		m.replayFrom = feed.Cursor
	}
}
