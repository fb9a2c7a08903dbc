package dashboard

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// key routes a key: to the dialog, to what is being typed, or through the table of
// actions.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.pointer.last, m.positions.beginning = clicked{}, nil
	if a, ok := m.cfg.Actions.Lookup(m.scope(), key); ok && a.ID == action.Suspend && key.Text == "" {
		return m.do(a.ID) // from anywhere
	}
	if m.dialog.open() {
		return m.dialogKey(key)
	}
	if m.typing() {
		return m.typeKey(key)
	}
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	if b := m.board; !ok && b.focus == layout.Detail && !b.layout.Panes[b.before].Empty() {
		a, ok = m.cfg.Actions.Lookup(action.Board, key) // the board stands beside it
		if ok {
			b.setFocus(b.before)
			if a.ID == action.FocusNext {
				return nil
			}
		}
	}
	if !ok {
		if a, ok = m.cfg.Actions.Lookup(action.Board, key); !ok || a.ID != action.Filter {
			return nil // else the text that follows would be taken for keys
		}
	}
	return m.do(a.ID)
}

// typing reports whether keys are letters of what is being typed in the footer.
func (m *Model) typing() bool {
	return m.filters.typed != nil || m.jump.typed != nil || m.finder.typed != nil
}

// typeKey takes a key while a filter or an id is typed. Keys that type nothing may
// end the program, or move the cursor.
func (m *Model) typeKey(key tea.KeyPressMsg) tea.Cmd {
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	switch name := key.String(); {
	case ok && a.ID == action.Quit && key.Text == "":
		return m.quit()
	case m.finder.typed != nil:
		m.finder.key(key)
	case m.jump.typed != nil && m.filters.typed == nil:
		return m.jump.key(key)
	case name == "up", name == "down", name == "pgup", name == "pgdown":
		if ok {
			return m.do(a.ID)
		}
	default:
		m.filters.key(key)
	}
	return nil
}

// paste takes pasted text: into what is being typed, or to the dialog, which
// decides. What is refused is said.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	refused := ""
	switch {
	case m.dialog.open():
		return m.dialog.paste(m.ctx, msg.Content)
	case m.finder.typed != nil:
		refused = m.finder.paste(msg.Content)
	case m.jump.typed != nil:
		refused = m.jump.paste(msg.Content)
	case m.filters.typed != nil:
		refused = m.filters.paste(msg.Content)
	default:
		m.notices.say(warning, "pasted text is not taken here: "+m.cfg.Actions.KeyOf(action.Filter)+" filters by it, "+m.cfg.Actions.KeyOf(action.Jump)+" goes to an id")
	}
	if refused != "" {
		m.notices.say(warning, "the pasted text is not taken: "+refused)
	}
	return nil
}

// mouse routes what the mouse does: to the dialog, to the transport line, to the
// footer, or to the pane under it.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	_, pressed := msg.(tea.MouseClickMsg)
	pressed = pressed && at.Button == tea.MouseLeft
	_, wheeled := msg.(tea.MouseWheelMsg)
	wheeled = wheeled && wheel(at) != 0
	m.redraw = m.redraw || pressed || wheeled
	switch {
	case m.dialog.open() && pressed:
		return m.answer(m.dialog.shown.Click(at.X-m.dialog.x, at.Y-m.dialog.y, time.Now()))
	case m.dialog.open():
		m.dialog.scroll(wheel(at))
	case m.board.height < m.height && at.Y == m.height-1:
		m.redraw = true
		m.replay.Point(msg)
	case m.board.layout.TooSmall:
	case pressed && at.Y == m.board.layout.Footer.Y:
		return m.pressFooter(at.X)
	case pressed:
		if _, _, ok := m.pointer.under(at.X, at.Y); ok {
			m.filters.typed, m.jump.typed, m.finder.typed, m.marks.stayed = nil, nil, nil, pane.Subject{}
		}
		m.pointer.click(at.X, at.Y)
	case wheeled:
		m.pointer.scroll(at)
	}
	return nil
}

// pressFooter does what stands at a column of the footer.
func (m *Model) pressFooter(x int) tea.Cmd {
	switch s, ok := m.footer.at(x); {
	case !ok:
		return nil
	case s.id != "":
		return m.do(s.id)
	default:
		return m.key(tea.KeyPressMsg{Code: s.key})
	}
}

func (m *Model) scope() action.Scope {
	if m.board.focus == layout.Detail {
		return action.Detail
	}
	return action.Board
}

// do performs an action, or says why it cannot.
func (m *Model) do(id action.ID) tea.Cmd {
	m.welcome.press(id == action.Help)
	if reason := m.disabled(id); reason != "" && id != action.Filter {
		m.notices.say(warning, reason)
		return nil
	}
	defer m.marks.visit()
	if c, ok := m.own.find(id); ok {
		return m.openOwn(c)
	}
	if s, ok := steps[id]; ok {
		m.step(s)
		return nil
	}
	if m.board.focusOn(id) || m.replay != nil && m.replay.Steer(id) || m.failures.do(id) || m.usage.do(id) || m.finder.do(id) || m.silencing.do(id) {
		return nil
	}
	return m.run(id)
}

// step moves the cursor, and an open detail with it.
func (m *Model) step(s pane.Step) {
	if m.board.step(s) {
		m.details.follow()
	}
}

// run does what is neither a step nor a change of the focus.
func (m *Model) run(id action.ID) tea.Cmd {
	switch id {
	case action.Open:
		if !m.board.unfold() {
			m.details.open(m.board.subject())
		}
	case action.Back:
		if !m.finder.end() {
			m.details.close()
		}
	case action.Filter:
		m.filters.start(m.disabled(id))
	case action.ClearFilter:
		m.clearOne()
	case action.Sort, action.ReverseSort:
		m.board.sort("", id == action.ReverseSort)
	case action.Jump:
		m.jump.start()
	case action.LookBack:
		m.details.lookBack(-1)
	case action.LookForward:
		m.details.lookBack(1)
	case action.Freeze:
		m.freeze()
	case action.Zoom:
		if m.board.pulseWhole() {
			m.board.togglePulse()
			break
		}
		m.board.toggleZoom()
	case action.Reveal:
		m.details.reveal()
	case action.NextArrangement:
		m.board.nextArrangement()
	case action.GroupOrders:
		m.board.groupOrders()
	case action.ToggleIntents, action.ToggleShipments, action.ToggleQuota, action.ToggleEvents, action.TogglePulse:
		m.board.togglePane(layout.Pane(slices.Index(toggling[:], id)))
	case action.NextTheme:
		m.themes.next()
		m.restyle()
	case action.ToggleMouse:
		m.pointer.toggle()
	case action.CopyID:
		if text := m.details.copied(); text != "" {
			return sendTerminal(ansi.SetSystemClipboard(text))
		}
	case action.CopyPosition:
		return m.positions.copy()
	case action.OpenLink:
		m.links.offer(m.ctx)
	case action.Export:
		return m.exporting.as(exports()[0])
	case action.ExportAs:
		m.exporting.offer()
	case action.Record:
		return m.recorder.toggle()
	case action.Refresh:
		return m.readAgain()
	case action.Reconnect:
		return m.asker.reconnect()
	case action.Suspend:
		return m.suspend(false)
	case action.Quit:
		return m.quit()
	case action.Digest:
		m.dialog.shown = m.away.sheet(m.themes.current())
	case action.Arrange, action.Help, action.Palette:
		m.openDialog(id)
	default:
		return m.runConfirm(id)
	}
	return nil
}

// openDisabled says why nothing can be opened.
func (m *Model) openDisabled() string {
	if p, ok := m.board.panes[m.board.focus].(asked); ok {
		_, why := p.Asked()
		return why
	}
	if m.board.subject().Kind == pane.None && !m.board.onFold() {
		return "nothing under the cursor"
	}
	return ""
}

// runConfirm does what leads to a confirm.
func (m *Model) runConfirm(id action.ID) tea.Cmd {
	switch id {
	case action.Confirm:
		return m.openConfirm()
	case action.MarkRange:
		m.marks.reach()
	case action.Mark:
		switch {
		case m.board.ranging():
			m.marks.reach()
			return nil
		case m.board.headUnder():
			m.markOrder()
			return nil
		}
		if row := m.board.subject(); m.marks.toggle() {
			m.step(pane.Down)
			m.marks.stay(row)
		}
	case action.MarkAll:
		m.marks.all()
	case action.Unmark:
		m.marks.clear()
	case action.ConfirmMarked:
		return m.openBatch()
	case action.StopBatch:
		m.batch.stop("by hand")
	}
	return nil
}

// disabled says why an action cannot be performed now; "" when it can.
func (m *Model) disabled(id action.ID) string {
	if c, ok := m.own.find(id); ok {
		return m.own.disabled(c)
	}
	b := m.board
	switch id {
	case action.FocusDetail:
		if !b.detailOpen {
			return "no detail is open"
		}
	case action.Confirm:
		if o := b.orderUnder(); o != nil {
			return m.batch.orderDisabled(o)
		}
		return m.confirms.disabled(b.intentUnder())
	case action.Mark:
		return m.marks.disabled()
	case action.MarkAll, action.MarkRange:
		return m.marks.allDisabled()
	case action.Unmark:
		if len(m.marks.set) == 0 {
			return "nothing is marked"
		}
	case action.ConfirmMarked:
		return m.batch.disabled()
	case action.StopBatch:
		if m.batch.queue == nil {
			return "no batch is under way"
		}
	case action.Open:
		return m.openDisabled()
	case action.Acknowledge, action.Mute:
		return m.silencing.disabled()
	case action.FilterAlike, action.Failures:
		return m.failures.disabled(id)
	case action.Usage, action.Pulse, action.NextSpan, action.NextChart:
		return m.usage.disabled(id)
	case action.CopyID, action.OpenLink:
		if b.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.Record:
		return m.recorder.disabled()
	case action.Export, action.ExportAs:
		return m.exporting.disabled()
	case action.Refresh:
		return m.asker.readDisabled(b.intentUnder())
	case action.CopyPosition:
		return m.positions.disabled()
	case action.FindNext, action.FindPrevious:
		return m.finder.disabled()
	case action.Zoom:
		if b.focus == layout.Detail && !layout.Beside(m.width) {
			return "the detail fills the screen already"
		}
		if layout.IsView(b.focus) {
			return "this fills the screen already"
		}
	case action.Reconnect:
		return m.asker.reconnectDisabled()
	case action.Suspend:
		return m.job.Disabled(m.confirming())
	case action.LookBack:
		return m.details.trail.ends(-1, b.detailOpen)
	case action.LookForward:
		return m.details.trail.ends(1, b.detailOpen)
	case action.Sort, action.ReverseSort:
		if _, ok := b.panes[b.focus].(sortable); !ok {
			return "this pane cannot be sorted"
		}
	case action.Filter:
		if _, ok := b.panes[b.focus].(filtered); !ok {
			return "this pane cannot be filtered"
		}
		if b.focus == layout.Quota && !b.quota.Viewing() {
			return "no spender is on the screen to be filtered: " + m.cfg.Actions.KeyOf(action.Usage) + " shows them"
		}
	}
	return ""
}

// readAgain reads what the cursor is on; while the API key is refused, it tries
// that.
func (m *Model) readAgain() tea.Cmd {
	if m.asker.triesKey() {
		return m.asker.tryKey()
	}
	in, ok := m.board.intentUnder()
	if !ok {
		return nil
	}
	m.notices.say(plain, "reading "+string(in.ID)+" again")
	return m.asker.read(in.ID)
}
