package dashboard

import (
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/account"
)

// loading shows the progress of long work.
type loading struct {
	picture *picture
	batch   *batch
	from    int64 // the cursor when a history began to load; noReplay if none loads
}

// progress returns the sequence that shows the work in the terminal's own progress bar
// (OSC 9;4): a running batch, or a history that loads.
func (l *loading) progress() string {
	feed := l.picture.summary.Feed
	switch {
	case l.batch.queue != nil:
		return l.batch.queue.progress()
	case feed.State != account.FeedReplaying:
		return ""
	case l.from == noReplay || feed.Head <= l.from:
		return ansi.SetIndeterminateProgressBar
	}
	done := max(feed.Cursor-l.from, 0) * 100 / (feed.Head - l.from)
	return ansi.SetProgressBar(int(min(done, 100)))
}

// noReplay says that no history loads.
const noReplay = -1

// watch notes where the loading of a history began.
func (l *loading) watch() {
	switch feed := l.picture.summary.Feed; {
	case feed.State != account.FeedReplaying:
		l.from = noReplay
	case l.from == noReplay:
		l.from = feed.Cursor
	}
}
