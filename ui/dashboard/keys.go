package dashboard

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// key routes a key: to the dialog, to the prompt, or through the table of actions.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.pointer.last, m.positions.start = clicked{}, nil
	if a, ok := m.cfg.Actions.Lookup(m.scope(), key); ok && a.ID == action.Suspend && key.Text == "" {
		return m.do(a.ID) // always available
	}
	if m.dialog.open() {
		return m.dialogKey(key)
	}
	if m.typing() {
		return m.typeKey(key)
	}
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	if b := m.board; !ok && b.focus == layout.Detail && !b.layout.Panes[b.before].Empty() {
		a, ok = m.cfg.Actions.Lookup(action.Board, key) // the board is visible beside it
		if ok {
			b.setFocus(b.before)
			if a.ID == action.FocusNext {
				return nil
			}
		}
	}
	if !ok {
		if a, ok = m.cfg.Actions.Lookup(action.Board, key); !ok || a.ID != action.Filter {
			m.sayRecorded(key)
			return nil // otherwise the text that follows would count as keys
		}
	}
	return m.do(a.ID)
}

// sayRecorded answers, in a replay, a key that works only on a live screen.
func (m *Model) sayRecorded(key tea.KeyPressMsg) {
	if m.replay == nil {
		return
	}
	a, ok := action.Default().Lookup(m.scope(), key)
	if !ok {
		a, ok = action.Default().Lookup(action.Board, key)
	}
	if ok {
		m.notices.say(warning, strconv.Quote(a.Title)+" does nothing here: this is a recording")
	}
}

// typing reports whether keys go to a prompt in the footer.
func (m *Model) typing() bool {
	return m.filters.typed != nil || m.jump.typed != nil || m.finder.typed != nil
}

// typeKey handles a key while a filter or an id is typed. Keys that type nothing may
// quit, or move the cursor.
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
		return m.filters.key(key)
	}
	return nil
}

// paste passes pasted text to the prompt or to the dialog, and says if it is refused.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	var cmd tea.Cmd
	refused := ""
	switch {
	case m.dialog.open():
		return m.dialog.paste(m.ctx, msg.Content)
	case m.finder.typed != nil:
		refused = m.finder.paste(msg.Content)
	case m.jump.typed != nil:
		refused = m.jump.paste(msg.Content)
	case m.filters.typed != nil:
		cmd, refused = m.filters.paste(msg.Content)
	default:
		m.notices.say(warning, "pasted text is not accepted here: "+m.cfg.Actions.KeyOf(action.Filter)+" filters by it, "+m.cfg.Actions.KeyOf(action.Jump)+" goes to an id")
	}
	if refused != "" {
		m.notices.say(warning, "the pasted text is not accepted: "+refused)
	}
	return cmd
}

// mouse routes the mouse: to the dialog, the transport line, the footer, or the pane
// under it.
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

// pressFooter performs the target at a column of the footer.
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
		m.notices.sayWhile(func() bool { return m.disabled(id) == reason }, warning, reason)
		return nil
	}
	defer m.marks.visit()
	if c, ok := m.own.find(id); ok {
		return m.own.open(m.ctx, c)
	}
	if s, ok := steps[id]; ok {
		m.details.step(s)
		return nil
	}
	switch {
	case m.board.focusOn(id), m.replay != nil && m.replay.Steer(id), m.board.do(id), m.details.do(id), m.finder.do(id):
		return nil
	case m.failures.do(id), m.usage.do(id), m.silence.do(id):
		return nil
	}
	return m.run(id)
}

// run performs actions other than steps and focus changes.
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
	case action.Jump:
		m.jump.start()
	case action.Freeze:
		m.freeze()
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
	case action.NewIntent:
		m.creation.ask()
	case action.Export:
		return m.exporting.as(exports()[0])
	case action.ExportAs:
		m.exporting.offer()
	case action.SendAgain:
		return m.deliveries.again(m.ctx)
	case action.Record:
		return m.recorder.toggle()
	case action.Refresh:
		return m.asker.readAgain(m.board.intentUnder())
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
		return m.consent.do(m.ctx, id)
	}
	return nil
}

// disabled says why an action is not possible now; "" if it is.
func (m *Model) disabled(id action.ID) string {
	if c, ok := m.own.find(id); ok {
		return m.own.disabled(c)
	}
	switch id {
	case action.Confirm, action.Mark, action.MarkAll, action.MarkRange, action.Unmark, action.ConfirmMarked, action.StopBatch:
		return m.consent.disabled(id)
	case action.Acknowledge, action.Mute:
		return m.silence.disabled()
	case action.FilterAlike, action.Failures:
		return m.failures.disabled(id)
	case action.Usage, action.Pulse, action.NextSpan, action.NextChart:
		return m.usage.disabled(id)
	case action.Record:
		return m.recorder.disabled()
	case action.SendAgain:
		return m.deliveries.disabled()
	case action.NewIntent:
		return m.creation.disabled()
	case action.Export, action.ExportAs:
		return m.exporting.disabled()
	case action.Refresh:
		return m.asker.readDisabled(m.board.intentUnder())
	case action.CopyPosition:
		return m.positions.disabled()
	case action.FindNext, action.FindPrevious:
		return m.finder.disabled()
	case action.Reconnect:
		return m.asker.reconnectDisabled()
	case action.Suspend:
		return m.job.Disabled(m.batch.confirming())
	case action.LookBack:
		return m.details.trail.ends(-1, m.board.detailOpen)
	case action.LookForward:
		return m.details.trail.ends(1, m.board.detailOpen)
	}
	return m.board.disabled(id)
}
