package dashboard

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// key routes a key: to the dialog, to the filter that is being typed, or
// through the table of actions.
func (m *Model) key(key tea.KeyPressMsg) tea.Cmd {
	m.redraw = true
	if m.dialog.open() {
		return m.dialogKey(key)
	}
	if m.filter != nil {
		m.typeFilter(key)
		return nil
	}
	if m.jump != nil {
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

func (m *Model) scope() action.Scope {
	if m.focus == layout.Detail {
		return action.Detail
	}
	return action.Board
}

// do performs an action, or says why it cannot.
func (m *Model) do(id action.ID) tea.Cmd {
	m.redraw = true
	if reason := m.disabled(id); reason != "" {
		m.say(warning, reason)
		return nil
	}
	if s, ok := steps[id]; ok {
		if by := map[pane.Step]int{pane.Left: -1, pane.Right: 1}[s]; by != 0 && layout.IsTab(m.focus) {
			m.turnTab(by)
			return nil
		}
		if p, ok := m.panes[m.focus].(mover); ok {
			p.Move(s)
			m.followCursor()
		}
		return nil
	}
	if at := slices.Index(focusing[:], id); at >= 0 {
		m.setFocus(layout.Pane(at))
		return nil
	}
	switch id {
	case action.FocusNext:
		m.focusBy(1)
	case action.FocusPrevious:
		m.focusBy(-1)
	case action.FocusDetail:
		m.before = m.focus
		m.setFocus(layout.Detail)
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
		m.zoom = !m.zoom
		m.arrange()
	case action.Confirm:
		return m.openConfirm()
	case action.Mark:
		m.mark()
	case action.Unmark:
		m.unmark()
	case action.ConfirmMarked:
		return m.openBatch()
	case action.StopBatch:
		m.stopQueue("by hand")
	case action.Refresh:
		return m.refresh()
	case action.CopyID:
		return m.copyID()
	case action.Reveal:
		m.reveal()
	case action.NextTheme:
		m.nextTheme()
	case action.ToggleMouse:
		m.toggleMouse()
	case action.Help:
		m.openHelp()
	case action.Palette:
		m.openPalette()
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
		if m.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.CopyID:
		if m.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.Refresh:
		switch _, ok := m.intentOf(m.subject()); {
		case m.cfg.Refresh == nil:
			return "reading is not possible here"
		case !ok:
			return "no intent under the cursor"
		}
	case action.LookBack:
		return m.trailEnds(-1)
	case action.LookForward:
		return m.trailEnds(1)
	case action.Sort, action.ReverseSort:
		if _, ok := m.panes[m.focus].(sortable); !ok {
			return "the rows of this pane stay in their order"
		}
	case action.Filter:
		if _, ok := m.panes[m.focus].(filtered); !ok {
			return "nothing to filter in this pane"
		}
	}
	return ""
}

// focusBy moves the focus among the panes that are on the screen.
func (m *Model) focusBy(by int) {
	to := m.focus
	for {
		to = layout.Pane((int(to) + by + layout.Board) % layout.Board)
		if !layout.IsTab(to) || to == m.tab {
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

// subject is what the cursor is on.
func (m *Model) subject() pane.Subject {
	if p, ok := m.panes[m.focus].(subjected); ok {
		return p.Subject()
	}
	return pane.Subject{}
}

// intentOf is the intent that a subject speaks of.
func (m *Model) intentOf(s pane.Subject) (*account.Intent, bool) {
	id := s.ID
	switch s.Kind {
	case pane.OfShipment:
		if shipment, ok := m.picture.shipments[id]; ok {
			id = shipment.IntentID
		}
	case pane.OfEvent:
		id = m.sourceOf(id)
	}
	in, ok := m.picture.intents[id]
	return in, ok
}

// sourceOf is the intent behind an event.
func (m *Model) sourceOf(event api.ID) api.ID {
	e, ok := m.panes[layout.Events].(*pane.Events).Find(event)
	if !ok {
		return ""
	}
	if s, ok := m.picture.shipments[e.SourceID]; ok {
		return s.IntentID
	}
	return e.SourceID
}

// openDetail opens what the cursor is on.
func (m *Model) openDetail() {
	if m.focus != layout.Detail {
		m.before = m.focus
	}
	s := m.subject()
	m.turnDetail(s)
	m.trail.add(s)
}

// sort changes the order of the focused pane.
func (m *Model) sort(reverse bool) {
	name := m.panes[m.focus].(sortable).Sort(reverse)
	if name == "" {
		m.say(plain, "in the pane's own order again")
		return
	}
	m.say(plain, "sorted by "+name+"; S turns it round")
}

// followCursor turns an open detail to what the cursor of the board is on.
func (m *Model) followCursor() {
	if m.detailOpen && m.focus != layout.Detail {
		if s := m.subject(); s.Kind != pane.None && s != m.detail.Subject() {
			m.detail.Open(s)
			m.before = m.focus
		}
	}
	m.feedDetail()
}

func (m *Model) closeDetail() {
	m.detailOpen = false
	m.look.Opened = pane.Subject{}
	m.setFocus(m.before)
	m.invalidate()
}

// feedDetail gives the detail what is known of its subject.
func (m *Model) feedDetail() {
	if m.detailOpen && m.look.Opened != m.detail.Subject() {
		m.look.Opened = m.detail.Subject()
		m.invalidate()
	}
	if !m.detailOpen || m.frozen != nil && m.detail.Fed() {
		return
	}
	s := m.detail.Subject()
	var facts pane.Facts
	if s.Kind == pane.OfEvent {
		facts.Event, _ = m.panes[layout.Events].(*pane.Events).Find(s.ID)
	}
	if s.Kind == pane.OfRequest {
		facts.Request, _ = m.panes[layout.Requests].(*pane.Requests).Find(s.ID)
	}
	if s.Kind == pane.OfShipment {
		facts.Shipment = m.picture.shipments[s.ID]
	}
	if in, ok := m.intentOf(s); ok {
		facts.Intent = in
		facts.Shipments = m.picture.shipmentsOf(in.ID)
	}
	m.detail.Feed(facts)
}

func (m *Model) refresh() tea.Cmd {
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

// reveal shows personal data in the detail, or hides it.
func (m *Model) reveal() {
	m.detail.Reveal(!m.detail.Revealed())
	if m.detail.Revealed() {
		m.say(warning, "personal data is shown until the detail is left; payment tokens stay hidden")
	} else {
		m.say(plain, "personal data is hidden")
	}
}

func (m *Model) copyID() tea.Cmd {
	if m.focus == layout.Detail {
		switch value, private := m.detail.Value(); {
		case private:
			m.say(plain, "copied the value of this line")
			return tea.SetClipboard(value)
		case value != "":
			m.say(plain, "copied "+value)
			return tea.SetClipboard(value)
		}
	}
	s := m.subject()
	id := string(s.ID)
	if s.Kind == pane.OfRequest {
		r, ok := m.panes[layout.Requests].(*pane.Requests).Find(s.ID)
		if !ok || r.RequestID == "" {
			m.say(warning, "the service gave this request no id")
			return nil
		}
		id = string(r.RequestID)
	}
	m.say(plain, "copied "+id)
	return tea.SetClipboard(id)
}

func (m *Model) nextTheme() {
	at := slices.IndexFunc(m.cfg.Themes, func(t themes.Theme) bool { return t.Name == m.theme.Name })
	m.theme = m.cfg.Themes[(at+1)%len(m.cfg.Themes)]
	m.restyle()
	m.say(plain, "theme: "+m.theme.Name)
}

func (m *Model) toggleMouse() {
	m.noMouse = !m.noMouse
	if m.noMouse {
		m.say(plain, "the mouse selects text now; m takes it back")
	} else {
		m.say(plain, "the mouse points into the board")
	}
}

// quit ends the program. While a confirm is under way it asks once.
func (m *Model) quit() tea.Cmd {
	if n := len(m.underway()); n > 0 && !m.quitting {
		m.quitting = true
		m.toast = toast{warning, "a confirm is under way: quit again to leave; the audit log tells its outcome", time.Now().Add(toastFor)}
		return nil
	}
	return tea.Quit
}
