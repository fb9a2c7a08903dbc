package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

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
	return m.intent(id)
}

// intent is what is known of an intent, also while the screen is frozen.
func (m *Model) intent(id api.ID) (*account.Intent, bool) {
	if in, ok := m.picture.behind[id]; ok {
		return in, true
	}
	if m.picture.anew {
		return nil, false
	}
	return m.intents.Intent(id)
}

// opened is all that was known of an intent when it last changed.
type opened struct {
	id     api.ID // "" when it has changed since
	detail *account.IntentDetail
}

// forgetOpened has what is known of the opened intent asked for again, if that
// has changed.
func (m *Model) forgetOpened(c *account.Changes) {
	changed := func(in *account.Intent) bool { return in.ID == m.opened.id }
	if m.opened.id != "" && (c.Whole || slices.ContainsFunc(c.Intents, changed) || slices.Contains(c.GoneIntents, m.opened.id)) {
		m.opened = opened{}
	}
}

// wholeOf asks for all that is known of an intent, once for each change of it.
func (m *Model) wholeOf(id api.ID) *account.IntentDetail {
	if m.opened.id != id {
		detail, _ := m.cfg.Source.Intent(id)
		m.opened = opened{id, detail}
	}
	return m.opened.detail
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

// closeDetail closes the detail. The board is then as it was: what had been
// enlarged is gone.
func (m *Model) closeDetail() {
	m.detailOpen = false
	m.zoom = m.zoom && m.zoomed != layout.Detail
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
		facts.Intent = m.wholeOf(in.ID)
		facts.Shipments = m.picture.shipmentsOf(in.ID)
	}
	m.detail.Feed(facts)
}

// reveal shows personal data in the detail, or hides it.
func (m *Model) reveal() {
	m.detail.Reveal(!m.detail.Revealed())
	if m.detail.Revealed() {
		m.say(warning, "personal data is shown until the detail is left; payment tokens stay hidden")
		m.toast.holds = m.detail.Revealed
	} else {
		m.say(plain, "personal data is hidden")
	}
}

func (m *Model) copyID() tea.Cmd {
	if m.focus == layout.Detail {
		switch value, private := m.detail.Value(); {
		case private:
			m.say(plain, "copied the value of this line")
			return tell(ansi.SetSystemClipboard(value))
		case value != "":
			m.say(plain, "copied "+value)
			return tell(ansi.SetSystemClipboard(value))
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
	return tell(ansi.SetSystemClipboard(id))
}
