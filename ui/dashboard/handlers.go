package dashboard

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
)

// handler performs an action.
type handler struct {
	do       func() tea.Cmd
	disabled func() string // says why that is not possible now, or ""; nil: it always is
}

// does is the handler of an action that is always possible and has no command.
func does(do func()) handler {
	return handler{do: func() tea.Cmd {
		do()
		return nil
	}}
}

// unless returns the handler, disabled for the reasons that disabled gives.
func (h handler) unless(disabled func() string) handler {
	h.disabled = disabled
	return h
}

// actions are the handlers of all actions but own commands and those of a replay.
func (m *Model) actions() map[action.ID]handler {
	all := m.viewing()
	maps.Copy(all, m.acting())
	maps.Copy(all, m.finding())
	for p, id := range focusing {
		all[id] = does(func() { m.board.focusOn(layout.Pane(p)) })
	}
	for p, id := range toggling {
		all[id] = does(func() { m.board.togglePane(layout.Pane(p)) })
	}
	for id, step := range steps {
		all[id] = does(func() { m.details.step(step) })
	}
	return all
}

// acting returns the handlers of the actions on a row.
func (m *Model) acting() map[action.ID]handler {
	return map[action.ID]handler{
		action.Open:          does(m.open).unless(m.board.openDisabled),
		action.Back:          does(m.back),
		action.Confirm:       {func() tea.Cmd { return m.consent.ask(m.ctx) }, m.consent.disabled},
		action.ConfirmMarked: {func() tea.Cmd { return m.consent.askMarked(m.ctx) }, m.batch.disabled},
		action.StopBatch:     does(func() { m.batch.stop("by hand") }).unless(m.batch.stopDisabled),
		action.Mark:          does(m.consent.mark).unless(m.marks.disabled),
		action.MarkAll:       does(m.marks.all).unless(m.marks.allDisabled),
		action.Unmark:        does(m.marks.clear).unless(m.marks.clearDisabled),
		action.Acknowledge:   does(m.silence.acknowledge).unless(m.silence.disabled),
		action.Mute:          does(m.silence.openMute).unless(m.silence.disabled),
		action.Refresh:       {m.asker.readAgain, m.asker.readDisabled},
		action.CopyID:        {m.copyID, m.board.subjectless},
		action.OpenLink:      does(func() { m.links.offer(m.ctx) }).unless(m.board.subjectless),
		action.Export:        {func() tea.Cmd { return m.exporting.as(exports()[0]) }, m.exporting.disabled},
		action.ExportAs:      does(m.exporting.offer).unless(m.exporting.disabled),
		action.Reveal:        does(m.details.reveal),
	}
}

// finding returns the handlers of the actions that find, filter and sort.
func (m *Model) finding() map[action.ID]handler {
	return map[action.ID]handler{
		action.Filter:       does(func() { m.filters.start(m.board.filterDisabled()) }).unless(m.board.filterDisabled),
		action.ClearFilter:  does(m.clearOne),
		action.FilterAlike:  does(m.failures.filterAlike).unless(m.failures.disabled),
		action.Sort:         does(func() { m.board.sort("", false) }).unless(m.board.sortDisabled),
		action.ReverseSort:  does(func() { m.board.sort("", true) }).unless(m.board.sortDisabled),
		action.Jump:         does(m.jump.start),
		action.FindText:     does(m.finder.start),
		action.FindNext:     does(func() { m.finder.next(1) }).unless(m.finder.disabled),
		action.FindPrevious: does(func() { m.finder.next(-1) }).unless(m.finder.disabled),
		action.CopyPosition: {func() tea.Cmd { return m.positions.copy(m.ctx) }, m.positions.disabled},
		action.Palette:      does(m.palette),
	}
}

// viewing returns the handlers of the actions on panes, views and the program.
func (m *Model) viewing() map[action.ID]handler {
	return map[action.ID]handler{
		action.FocusNext:     does(func() { m.board.focusBy(1) }),
		action.FocusPrevious: does(func() { m.board.focusBy(-1) }),
		action.FocusDetail:   does(m.board.focusDetail).unless(m.board.detailDisabled),
		action.Freeze:        {do: m.freeze},
		action.Zoom:          does(m.board.toggleZoom).unless(m.board.zoomDisabled),
		action.GroupOrders:   does(m.board.groupOrders),
		action.Pulse:         does(func() { m.board.toggleView(layout.Pulse) }),
		action.Usage:         does(m.board.toggleQuota),
		action.Failures:      does(func() { m.board.toggleView(layout.Failures) }),
		action.NextSpan:      does(m.usage.nextSpan).unless(m.usage.spanDisabled),
		action.NextChart:     does(m.usage.nextChart).unless(m.usage.chartDisabled),
		action.NextTheme:     does(m.nextTheme),
		action.ToggleMouse:   does(m.pointer.toggle),
		action.Digest:        does(func() { m.dialog.shown = m.away.sheet() }),
		action.Help:          does(m.help),
		action.Reconnect:     {m.asker.reconnect, m.asker.reconnectDisabled},
		action.Record:        {m.recorder.toggle, m.recorder.disabled},
		action.Redraw:        {do: m.repaint},
		action.Suspend:       {func() tea.Cmd { return m.suspend(false) }, func() string { return m.job.Disabled(m.batch.confirming()) }},
		action.Quit:          {do: m.quit},
	}
}

// open opens what is under the cursor.
func (m *Model) open() {
	switch {
	case m.board.focus == layout.Failures:
		m.failures.open()
	case m.board.focus == layout.Quota:
		m.usage.openRequests()
	default:
		m.details.open(m.board.subject())
	}
}

// back ends the search in the detail, or closes it.
func (m *Model) back() {
	if !m.finder.end() {
		m.details.close()
	}
}

func (m *Model) copyID() tea.Cmd {
	if what := m.details.copied(); what.text != "" {
		return m.clipboard.copy(m.ctx, what)
	}
	return nil
}

func (m *Model) nextTheme() {
	m.themes.next()
	m.restyle()
}
