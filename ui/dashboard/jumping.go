package dashboard

import (
	"iter"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// jumping is an id that is being typed or pasted.
type jumping struct{ text string }

func (m *Model) typeJump(key tea.KeyPressMsg) tea.Cmd {
	j := m.jump
	switch key.String() {
	case "enter":
		m.jump = nil
		return m.jumpTo(j.text)
	case "esc":
		m.jump = nil
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(j.text)
		j.text = j.text[:len(j.text)-size]
	case "ctrl+u", "ctrl+w":
		j.text = ""
	default:
		j.add(key.Text)
	}
	return nil
}

// add reports whether there was room for text.
func (j *jumping) add(text string) bool {
	if len(j.text)+len(text) > api.MaxID {
		return false
	}
	j.text += string(api.Scrub(text))
	return true
}

func (m *Model) jumpPrompt(l *paint.Line) []spot {
	l.Put(paint.Accent|paint.Bold, "id ").Put(paint.Text, m.jump.text).Put(paint.Accent, "▏")
	return promptHints(l, "type or paste an id, its beginning or its end   enter goes there   esc leaves")
}

// leastAsked is how long an id must be that is not known here, for a read to be
// spent on it.
const leastAsked = 8

// jumpTo opens the intent, shipment or event of an id. An id that is not known
// is read as an intent's.
func (m *Model) jumpTo(text string) tea.Cmd {
	text = idWithin(text)
	if text == "" {
		return nil
	}
	found := m.search(text)
	switch {
	case len(found) == 1:
		m.lookAt(found[0])
	case len(found) > 1:
		m.say(warning, wording.Count(len(found))+" ids begin or end with "+text+": type more of it")
	case m.cfg.Refresh == nil || len(text) < leastAsked:
		m.say(warning, text+" is not known here")
	default:
		id := api.ScrubID(text)
		m.lookAt(pane.Subject{Kind: pane.OfIntent, ID: id})
		m.say(plain, string(id)+" is not known here yet: reading it as an intent")
		refresh := m.cfg.Refresh
		return func() tea.Msg {
			refresh(id)
			return nil
		}
	}
	return nil
}

// idWithin takes an id out of what was pasted: a path or an address may be
// around it.
func idWithin(text string) string {
	text, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(text), `"',`), "?")
	id := ""
	for part := range strings.SplitSeq(text, "/") {
		if part != "" && part != "confirm" && part != "shipments" {
			id = part
		}
	}
	return id
}

// search finds what has the id, or else what begins or ends with it.
func (m *Model) search(text string) []pane.Subject {
	id := api.ScrubID(text)
	if _, ok := m.intent(id); ok {
		return []pane.Subject{{Kind: pane.OfIntent, ID: id}}
	}
	if _, ok := m.picture.shipments[id]; ok {
		return []pane.Subject{{Kind: pane.OfShipment, ID: id}}
	}
	if _, ok := m.panes[layout.Events].(*pane.Events).Find(id); ok {
		return []pane.Subject{{Kind: pane.OfEvent, ID: id}}
	}
	var found []pane.Subject
	matches := func(id api.ID) bool {
		return strings.HasPrefix(string(id), text) || strings.HasSuffix(string(id), text)
	}
	for id := range m.intentIDs() {
		if matches(id) {
			found = append(found, pane.Subject{Kind: pane.OfIntent, ID: id})
		}
	}
	for id := range m.picture.shipments {
		if matches(id) {
			found = append(found, pane.Subject{Kind: pane.OfShipment, ID: id})
		}
	}
	return found
}

// intentIDs are those of all intents, each once.
func (m *Model) intentIDs() iter.Seq[api.ID] {
	return func(yield func(api.ID) bool) {
		for id := range m.picture.behind {
			if !yield(id) {
				return
			}
		}
		for id := range m.intents.IDs() {
			if _, told := m.picture.behind[id]; !told && !m.picture.anew && !yield(id) {
				return
			}
		}
	}
}

// lookAt opens the detail of a subject and puts the cursor on it where it is on
// the board.
func (m *Model) lookAt(s pane.Subject) {
	if m.focus != layout.Detail {
		m.before = m.focus
	}
	if s.Kind == pane.OfIntent && m.intents.Select(s.ID) {
		m.before = layout.Intents
	}
	m.turnDetail(s)
	m.trail.add(s)
}

// turnDetail shows a subject in the detail.
func (m *Model) turnDetail(s pane.Subject) {
	m.detail.Open(s)
	m.detailOpen = true
	m.feedDetail()
	m.setFocus(layout.Detail)
}

// trail is what was looked at.
type trail struct {
	seen []pane.Subject
	at   int // of what was looked at last
}

// longestTrail bounds it.
const longestTrail = 100

func (t *trail) add(s pane.Subject) {
	if len(t.seen) > 0 {
		if t.seen[t.at] == s {
			return
		}
		t.seen = t.seen[:t.at+1]
	}
	t.seen = append(t.seen, s)
	if len(t.seen) > longestTrail {
		t.seen = t.seen[1:]
	}
	t.at = len(t.seen) - 1
}

// lookBack shows what was looked at before, or after by a positive number. While
// no detail is open the last one comes back.
func (m *Model) lookBack(by int) {
	if m.detailOpen || by > 0 {
		m.trail.at += by
	}
	if m.focus != layout.Detail {
		m.before = m.focus
	}
	m.turnDetail(m.trail.seen[m.trail.at])
}

func (m *Model) trailEnds(by int) string {
	t := &m.trail
	switch {
	case len(t.seen) == 0:
		return "no detail was opened yet"
	case by < 0 && t.at == 0 && m.detailOpen:
		return "this is the first detail you looked at"
	case by > 0 && t.at == len(t.seen)-1:
		return "this is the last detail you looked at"
	}
	return ""
}
