package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// key routes a key: to the dialog, to the filter that is being typed, or
// through the table of actions.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.redraw, m.clicked = true, clicked{}
	if a, ok := m.cfg.Actions.Lookup(m.scope(), key); ok && a.ID == action.Suspend && key.Text == "" {
		return m.do(a.ID) // from anywhere
	}
	if m.dialog.open() {
		return m.dialogKey(key)
	}
	switch typing := m.filter != nil || m.jump != nil; {
	case typing && m.quits(key):
		return m.quit()
	case m.filter != nil:
		m.typeFilter(key)
		return nil
	case m.jump != nil:
		return m.typeJump(key)
	}
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	if !ok && m.focus == layout.Detail && !m.layout.Panes[m.before].Empty() {
		a, ok = m.cfg.Actions.Lookup(action.Board, key) // the board stands beside it
		if ok {
			m.setFocus(m.before)
			if a.ID == action.FocusNext {
				return nil
			}
		}
	}
	if !ok {
		return nil
	}
	return m.do(a.ID)
}

// quits reports whether a key that types nothing ends the program.
func (m *Model) quits(key tea.KeyPressMsg) bool {
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	return ok && a.ID == action.Quit && key.Text == ""
}

func (m *Model) scope() action.Scope {
	if m.focus == layout.Detail {
		return action.Detail
	}
	return action.Board
}

// do performs an action, or says why it cannot.
func (m *Model) do(id action.ID) tea.Cmd {
	m.redraw = true
	m.gettingAcquainted(id == action.Help)
	if reason := m.disabled(id); reason != "" {
		m.say(warning, reason)
		return nil
	}
	defer m.visit()
	if m.moveBy(id) || m.focusOn(id) || m.steer(id) || m.use(id) {
		return nil
	}
	return m.run(id)
}

// moveBy moves the cursor of the focused pane, if the action is a step.
func (m *Model) moveBy(id action.ID) bool {
	s, ok := steps[id]
	if !ok {
		return false
	}
	if by := map[pane.Step]int{pane.Left: -1, pane.Right: 1}[s]; by != 0 && layout.IsTab(m.focus) {
		m.turnTab(by)
	} else if p, ok := m.panes[m.focus].(mover); ok {
		p.Move(s)
		m.followCursor()
	}
	return true
}

// focusOn gives a pane the focus, if that is what the action does.
func (m *Model) focusOn(id action.ID) bool {
	switch id {
	case action.FocusNext:
		m.focusBy(1)
	case action.FocusPrevious:
		m.focusBy(-1)
	case action.FocusDetail:
		m.before = m.focus
		m.setFocus(layout.Detail)
	default:
		at := slices.Index(focusing[:], id)
		if at < 0 {
			return false
		}
		m.showPane(layout.Pane(at))
		m.setFocus(layout.Pane(at))
	}
	return true
}

// run does what is neither a step nor a change of the focus.
func (m *Model) run(id action.ID) tea.Cmd {
	switch id {
	case action.Open:
		m.openDetail()
	case action.Back:
		m.closeDetail()
	case action.Filter:
		m.startFilter()
	case action.ClearFilter:
		m.clearFilter()
	case action.Sort, action.ReverseSort:
		m.sort(id == action.ReverseSort)
	case action.Jump:
		m.jump = &jumping{}
	case action.LookBack:
		m.lookBack(-1)
	case action.LookForward:
		m.lookBack(1)
	case action.Freeze:
		m.freeze()
	case action.Zoom:
		m.toggleZoom()
	case action.Confirm:
		return m.openConfirm()
	case action.Mark:
		m.mark()
	case action.MarkAll:
		m.markAll()
	case action.Unmark:
		m.unmark()
	case action.ConfirmMarked:
		return m.openBatch()
	case action.StopBatch:
		m.stopQueue("by hand")
	case action.Refresh:
		return m.readAgain()
	case action.Reconnect:
		return m.reconnect()
	case action.CopyID:
		return m.copyID()
	case action.Reveal:
		m.reveal()
	case action.NextArrangement:
		m.nextArrangement()
	case action.ToggleIntents, action.ToggleShipments, action.ToggleQuota, action.ToggleEvents:
		m.togglePane(layout.Pane(slices.Index(toggling[:], id)))
	case action.Arrange:
		m.openBoard()
	case action.NextTheme:
		m.nextTheme()
	case action.ToggleMouse:
		m.toggleMouse()
	case action.Help:
		m.openHelp()
	case action.Palette:
		m.openPalette()
	case action.Suspend:
		return m.suspend()
	case action.Quit:
		return m.quit()
	}
	return nil
}

var steps = map[action.ID]pane.Step{
	action.Up: pane.Up, action.Down: pane.Down, action.Left: pane.Left, action.Right: pane.Right,
	action.Top: pane.First, action.Bottom: pane.Last, action.PageUp: pane.PageUp, action.PageDown: pane.PageDown,
}

var focusing = [layout.Board]action.ID{action.FocusPane1, action.FocusPane2, action.FocusPane3, action.FocusPane4, action.FocusPane5, action.FocusPane6}

// disabled says why an action cannot be performed now; "" when it can.
func (m *Model) disabled(id action.ID) string {
	switch id {
	case action.FocusDetail:
		if !m.detailOpen {
			return "no detail is open"
		}
	case action.Confirm:
		return m.confirmDisabled()
	case action.Mark:
		return m.markDisabled()
	case action.MarkAll:
		return m.markAllDisabled()
	case action.Unmark:
		if len(m.marks) == 0 {
			return "nothing is marked"
		}
	case action.ConfirmMarked:
		return m.batchDisabled()
	case action.StopBatch:
		if m.queue == nil {
			return "no batch is under way"
		}
	case action.Open:
		if p, ok := m.panes[m.focus].(asked); ok {
			_, why := p.Asked()
			return why
		}
		if m.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.Usage, action.NextSpan, action.NextChart:
		return m.useDisabled(id)
	case action.CopyID:
		if m.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.Refresh:
		switch _, ok := m.intentOf(m.subject()); {
		case m.refused() && m.cfg.TryKey != nil:
		case m.cfg.Refresh == nil:
			return "nothing can be read here"
		case !ok:
			return "no intent under the cursor"
		}
	case action.Zoom:
		if m.focus == layout.Detail && !layout.Beside(m.width) {
			return "the detail fills the screen already"
		}
	case action.Reconnect:
		return m.reconnectDisabled()
	case action.Suspend:
		return m.suspendDisabled()
	case action.LookBack:
		return m.trailEnds(-1)
	case action.LookForward:
		return m.trailEnds(1)
	case action.Sort, action.ReverseSort:
		if _, ok := m.panes[m.focus].(sortable); !ok {
			return "this pane cannot be sorted"
		}
	case action.Filter:
		if _, ok := m.panes[m.focus].(filtered); !ok {
			return "this pane cannot be filtered"
		}
	}
	return ""
}

// focusBy moves the focus among the panes that are on the screen.
func (m *Model) focusBy(by int) {
	to := m.focus
	for {
		to = layout.Pane((int(to) + by + layout.Board) % layout.Board)
		if (!layout.IsTab(to) || to == m.tab) && !m.hidden().Has(to) {
			break
		}
	}
	m.setFocus(to)
}

// turnTab changes which of events, requests and alerts is shown.
func (m *Model) turnTab(by int) {
	if to := int(m.focus) + by; to >= 0 && layout.IsTab(layout.Pane(to)) {
		m.setFocus(layout.Pane(to))
	}
}

// sort changes the order of the focused pane.
func (m *Model) sort(reverse bool) {
	name := m.panes[m.focus].(sortable).Sort(reverse)
	if name == "" {
		m.say(plain, "default order")
		return
	}
	m.say(plain, "sorted by "+name+"; "+m.keyOf(action.ReverseSort)+" reverses it")
}

// readAgain reads what the cursor is on; while the API key is refused, it tries
// that.
func (m *Model) readAgain() tea.Cmd {
	if m.refused() && m.cfg.TryKey != nil {
		return m.tryKey()
	}
	in, ok := m.intentOf(m.subject())
	if !ok {
		return nil
	}
	m.say(plain, "reading "+string(in.ID)+" again")
	refresh, id := m.cfg.Refresh, in.ID
	return func() tea.Msg {
		refresh(id)
		return nil
	}
}

// quit ends the program. While a confirm is under way it asks once.
func (m *Model) quit() tea.Cmd {
	if n := len(m.underway()); n > 0 && !m.quitting {
		m.quitting = true
		m.say(warning, "a confirm is under way: quit again to leave; the audit log will tell its outcome")
		return nil
	}
	return tea.Quit
}
