package dashboard

import (
	"strconv"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// typing is a filter that is being typed.
type typing struct {
	pane   layout.Pane
	text   string
	before *pane.Filter // what esc brings back
	at     pane.Subject // where it brings the cursor back to
}

// longestFilter bounds a filter, in bytes.
const longestFilter = 120

func (m *Model) startFilter() {
	m.filter = &typing{pane: m.focus, before: m.filters[m.focus], at: m.subject()}
	if m.filter.before != nil {
		m.filter.text = m.filter.before.Text
	}
}

func (m *Model) typeFilter(key tea.KeyPressMsg) {
	t := m.filter
	switch key.String() {
	case "enter":
		if f := m.filters[t.pane]; f == nil || f.Wrong == "" {
			m.filter = nil
			m.intents.Stay()
		}
		return
	case "esc":
		m.filter = nil
		m.setFilter(t.pane, t.before)
		if t.at.Kind == pane.OfIntent {
			m.intents.Select(t.at.ID)
		}
		return
	case "backspace":
		if t.text == "" {
			m.filter = nil
			return
		}
		_, size := utf8.DecodeLastRuneInString(t.text)
		t.text = t.text[:len(t.text)-size]
	case "ctrl+u", "ctrl+w":
		t.text = ""
	case "up", "down", "pgup", "pgdown":
		if a, ok := m.cfg.Actions.Lookup(m.scope(), key); ok {
			m.do(a.ID)
		}
		return
	default:
		t.add(key.Text)
	}
	m.setFilter(t.pane, m.parse(t))
}

// parse reads what is typed, with the fields of its pane.
func (m *Model) parse(t *typing) *pane.Filter {
	if p, ok := m.panes[t.pane].(filtered); ok {
		return pane.ParseFilter(t.text, p.Fields())
	}
	return nil
}

// add reports whether there was room for text.
func (t *typing) add(text string) bool {
	if len(t.text)+len(text) > longestFilter {
		return false
	}
	t.text += string(api.Scrub(text))
	return true
}

func (m *Model) setFilter(at layout.Pane, f *pane.Filter) {
	if p, ok := m.panes[at].(filtered); ok {
		m.filters[at] = f
		p.SetFilter(f)
	}
}

func (m *Model) clearFilter() {
	switch {
	case m.filters[m.focus] != nil:
		m.setFilter(m.focus, nil)
	case m.detailOpen:
		m.before = m.focus
		m.closeDetail()
	case m.zoom:
		m.zoom = false
		m.arrange()
	}
}

// paste takes pasted text: into what is being typed, or to the dialog, which
// decides. What is refused is said.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	m.redraw = true
	switch {
	case m.dialog.open():
		return m.dialogPaste(msg)
	case m.jump != nil:
		if !m.jump.add(msg.Content) {
			m.say(warning, "the pasted text is not taken: an id has at most "+strconv.Itoa(api.MaxID)+" characters")
		}
	case m.filter != nil:
		if !m.filter.add(msg.Content) {
			m.say(warning, "the pasted text is not taken: a filter has at most "+strconv.Itoa(longestFilter)+" characters")
		}
		m.setFilter(m.filter.pane, m.parse(m.filter))
	default:
		m.say(warning, "pasted text is not taken here: "+m.keyOf(action.Filter)+" filters by it, "+m.keyOf(action.Jump)+" goes to an id")
	}
	return nil
}
