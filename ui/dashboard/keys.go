package dashboard

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/job"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// key routes a key: to the dialog, to the prompt, or through the table of actions.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.pointer.last, m.positions.start = clicked{}, nil
	if key.Code == tea.KeyEscape {
		key.Mod = 0 // two escapes in one read are reported as one with alt
	}
	if a, ok := m.cfg.Actions.Lookup(m.scope(), key); ok && (a.ID == action.Suspend || a.ID == action.Redraw) && key.Text == "" {
		return m.do(a.ID) // always available
	}
	if m.typing() && key.Text == "" && key.BaseCode == 0 && action.OfAnotherScript(key.Code) {
		m.sayForeign(key)
	}
	if m.dialog.open() {
		return m.dialogKey(key)
	}
	if p := m.prompt(); p != nil {
		return m.typeKey(p, key)
	}
	if key.Code == tea.KeyEscape && m.money.see(m.cfg.Now()) {
		return nil // the ending on the line is what it closes first
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
			m.sayElsewhere(key)
			return nil // otherwise the text that follows would count as keys
		}
	}
	return m.do(a.ID)
}

const (
	// mostTyped is how many keys may wait: more are a text that nobody typed.
	mostTyped = 1000
	// textPause is how long no key may arrive before keys count again.
	textPause = 500 * time.Millisecond
)

// keys handles keys that arrived together. It drops a long text that arrives as key presses: some
// keys take milliseconds each, and none was meant.
func (m *Model) keys(keys job.KeysMsg) tea.Cmd {
	now := time.Now()
	if len(keys) > mostTyped || now.Sub(m.flooded) < textPause {
		m.flooded = now
		m.notices.say(warning, "a long text arrived as key presses: it was dropped")
		return nil
	}
	commands := make([]tea.Cmd, len(keys))
	for i, key := range keys {
		_, commands[i] = m.Update(key)
	}
	return tea.Batch(commands...)
}

// sayElsewhere answers a key that works only in a detail, on the board or on a live screen.
func (m *Model) sayElsewhere(key tea.KeyPressMsg) {
	if a, ok := m.cfg.Actions.Lookup(action.Detail, key); ok {
		m.notices.say(plain, strconv.Quote(a.Title)+" works only in a detail")
	} else if a, ok := m.cfg.Actions.Lookup(action.Board, key); ok {
		m.notices.say(plain, strconv.Quote(a.Title)+" works only on the board: "+m.cfg.Actions.KeyOf(action.Back)+" goes back")
	} else if action.OfAnotherScript(key.Code) && (key.BaseCode == 0 || m.replay == nil) {
		m.sayForeign(key)
	} else if m.replay != nil {
		m.sayRecorded(key)
	}
}

// sayForeign answers a letter that is not Latin, and that no action has. Terminals that can
// report the places of letters do so from now on.
func (m *Model) sayForeign(key tea.KeyPressMsg) {
	again := ""
	if !m.foreign && key.BaseCode == 0 {
		m.foreign, again = true, "press it again, or "
	}
	m.notices.say(plain, "the keys are Latin letters: "+again+"switch the keyboard to them")
}

// sayRecorded answers, in a replay, a key that works only on a live screen.
func (m *Model) sayRecorded(key tea.KeyPressMsg) {
	a, ok := action.Default().Lookup(m.scope(), key)
	if !ok {
		a, ok = action.Default().Lookup(action.Board, key)
	}
	if ok {
		m.notices.say(warning, strconv.Quote(a.Title)+" does nothing here: this is a recording")
	}
}

// typeKey handles a key while something is typed. Keys that type nothing may quit, or move
// the cursor beside a filter.
func (m *Model) typeKey(p prompting, key tea.KeyPressMsg) tea.Cmd {
	a, ok := m.cfg.Actions.Lookup(m.scope(), key)
	moves := slices.Contains([]string{"up", "down", "pgup", "pgdown"}, key.String())
	switch {
	case ok && a.ID == action.Quit && key.Text == "":
		return m.quit()
	case moves && ok && m.filters.typed != nil:
		return m.do(a.ID)
	}
	return p.key(key)
}

// paste passes pasted text to the dialog or to the prompt, and says if it is refused.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.dialog.open() {
		return m.dialog.paste(m.ctx, msg.Content)
	}
	p := m.prompt()
	if p == nil {
		m.notices.say(warning, "pasted text is not accepted here: "+m.cfg.Actions.KeyOf(action.Filter)+" filters by it, "+m.cfg.Actions.KeyOf(action.Jump)+" goes to an id")
		return nil
	}
	cmd, refused := p.paste(msg.Content)
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
		if _, ok := m.board.layout.At(at.X, at.Y); ok {
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
		return m.own.open(c)
	}
	if h, ok := m.handlers[id]; ok {
		return h.do()
	}
	if m.replay != nil {
		m.replay.Steer(id)
	}
	return nil
}

// disabled says why an action is not possible now; "" if it is. While read-only, no dangerous
// action is possible.
func (m *Model) disabled(id action.ID) string {
	if !m.cfg.Armed {
		return m.cfg.Actions.ReadOnly(m.impossible)(id)
	}
	return m.impossible(id)
}

// impossible is like disabled, but ignores read-only.
func (m *Model) impossible(id action.ID) string {
	if c, ok := m.own.find(id); ok {
		return m.own.disabled(c)
	}
	if h := m.handlers[id]; h.disabled != nil {
		return h.disabled()
	}
	return ""
}
