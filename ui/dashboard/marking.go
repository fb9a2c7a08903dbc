package dashboard

import (
	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// mark marks the intent under the cursor for a batch, or takes the mark away, and
// moves on. On the last row the cursor stays: the mark that was just set there does
// not go again by a key too many.
func (m *Model) mark() {
	in, ok := m.intentOf(m.subject())
	if !ok {
		return
	}
	row := m.subject()
	if m.marks[in.ID] && row == m.stayed {
		m.say(plain, "the last row is marked already: move away and back to unmark it, or press "+m.keyOf(action.Unmark))
		return
	}
	m.setMark(in.ID, !m.marks[in.ID])
	m.moveBy(action.Down)
	if m.marks[in.ID] && m.subject() == row {
		m.stayed = row
	}
}

// markAll marks all intents that their pane shows, as far as they can be confirmed.
func (m *Model) markAll() {
	var shown, fresh, marked, left int
	reason := ""
	for row := range m.intents.Shown() {
		shown++
		in, ok := m.intent(row.ID)
		if !ok || in.State != api.AwaitingConfirmation {
			continue
		}
		if why := m.unconfirmable(in); why != "" {
			if left++; reason == "" {
				reason = why
			} else if reason != why {
				reason = "for several reasons"
			}
			continue
		}
		marked++
		if !m.marks[in.ID] {
			fresh++
			m.setMark(in.ID, true)
		}
	}
	kind, text := plain, wording.Counted(fresh, "intent", "intents")+" marked"
	switch {
	case marked == 0:
		kind, text = warning, "none of the "+wording.Count(shown)+" shown can be confirmed now"
		if shown == 1 {
			text = "the one shown cannot be confirmed now"
		}
	case fresh == 0:
		text = "all of them are marked already"
	}
	if left > 0 {
		kind, text = warning, text+"; "+wording.Count(left)+" left out: "+reason
	}
	m.say(kind, text)
}

// markAllDisabled says why the shown rows cannot be marked.
func (m *Model) markAllDisabled() string {
	if m.focus != layout.Intents {
		return "only intents can be marked: " + m.keyOf(action.FocusPane1) + " goes there"
	}
	return ""
}

// visit notes that the cursor has gone elsewhere, if it has.
func (m *Model) visit() {
	if m.subject() != m.stayed {
		m.stayed = pane.Subject{}
	}
}

func (m *Model) setMark(id api.ID, marked bool) {
	if marked {
		m.marks[id] = true
	} else {
		delete(m.marks, id)
	}
	m.intents.SetMarked(id, marked)
	m.redraw = true
}

func (m *Model) unmark() {
	for id := range m.marks {
		m.setMark(id, false)
	}
}

// keepMarks takes the mark from what is no longer awaiting.
func (m *Model) keepMarks() {
	for id := range m.marks {
		if in, ok := m.intent(id); !ok || in.State != api.AwaitingConfirmation {
			m.setMark(id, false)
		}
	}
}

// markDisabled says why the intent under the cursor cannot be marked.
func (m *Model) markDisabled() string {
	in, ok := m.intentOf(m.subject())
	switch {
	case !ok:
		return "no intent under the cursor"
	case m.marks[in.ID]:
		return ""
	}
	return m.unconfirmable(in)
}
