package dashboard

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
)

func TestTheTerminalShowsHowFarAHistoryHasLoaded(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 120, 36)
	if m.View().ProgressBar != nil {
		t.Error("there is progress while nothing loads")
	}
	for _, step := range []struct {
		state        account.FeedState
		cursor, head int64
		want         *tea.ProgressBar
	}{
		{account.FeedReplaying, 200, 0, tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)},
		{account.FeedReplaying, 200, 1200, tea.NewProgressBar(tea.ProgressBarDefault, 0)},
		{account.FeedReplaying, 700, 1200, tea.NewProgressBar(tea.ProgressBarDefault, 50)},
		{account.FeedReplaying, 1300, 1200, tea.NewProgressBar(tea.ProgressBarDefault, 100)},
		{account.FeedLive, 1300, 1300, nil},
		{account.FeedReplaying, 1300, 1400, tea.NewProgressBar(tea.ProgressBarDefault, 0)},
	} {
		s.changes.Summary.Feed = account.FeedStatus{State: step.state, Cursor: step.cursor, Head: step.head}
		m.Update(changesMsg{s.Changes(0)})
		got := m.View().ProgressBar
		if (got == nil) != (step.want == nil) || got != nil && *got != *step.want {
			t.Errorf("%d of %d: %+v, want %+v", step.cursor, step.head, got, step.want)
		}
	}
}

func TestTheTerminalShowsHowFarABatchIs(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	m.queue = &queue{accepted: map[api.ID]bool{"ci_1": true}, running: "ci_2", waiting: make([]confirm.Proposal, 2)}
	m.redraw = true
	if got := m.View().ProgressBar; got == nil || *got != *tea.NewProgressBar(tea.ProgressBarDefault, 25) {
		t.Errorf("progress %+v", got)
	}
	m.queue.others, m.queue.running, m.redraw = 1, "", true
	if got := m.View().ProgressBar; got == nil || *got != *tea.NewProgressBar(tea.ProgressBarWarning, 50) {
		t.Errorf("progress %+v", got)
	}
}
