package dashboard

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
)

func TestTheTerminalShowsHowFarAHistoryHasLoaded(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 120, 36)
	if m.loading.progress() != "" {
		t.Error("there is progress while nothing loads")
	}
	for _, step := range []struct {
		state        account.FeedState
		cursor, head int64
		want         string
	}{
		{account.FeedReplaying, 200, 0, ansi.SetIndeterminateProgressBar},
		{account.FeedReplaying, 200, 1200, ansi.SetProgressBar(0)},
		{account.FeedReplaying, 700, 1200, ansi.SetProgressBar(50)},
		{account.FeedReplaying, 1300, 1200, ansi.SetProgressBar(100)},
		{account.FeedLive, 1300, 1300, ""},
		{account.FeedReplaying, 1300, 1400, ansi.SetProgressBar(0)},
	} {
		s.changes.Summary.Feed = account.FeedStatus{State: step.state, Cursor: step.cursor, Head: step.head}
		m.Update(changesMsg{s.Changes(0)})
		if got := m.loading.progress(); got != step.want {
			t.Errorf("%d of %d: %q, want %q", step.cursor, step.head, got, step.want)
		}
	}
}

func TestTheTerminalShowsHowFarABatchIs(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	m.batch.queue = &queue{accepted: map[api.ID]bool{"ci_1": true}, running: "ci_2", waiting: make([]confirm.Proposal, 2)}
	m.redraw = true
	if got := m.loading.progress(); got != ansi.SetProgressBar(25) {
		t.Errorf("progress %q", got)
	}
	m.batch.queue.others, m.batch.queue.running, m.redraw = 1, "", true
	if got := m.loading.progress(); got != ansi.SetWarningProgressBar(50) {
		t.Errorf("progress %q", got)
	}
}
