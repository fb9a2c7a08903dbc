package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// hintKeys is after how many keys somebody who is new here has got the idea.
const hintKeys = 5

// isNew reports whether the hints for a first run are on the screen.
func (m *Model) isNew() bool { return !m.arranged.Acquainted && m.cfg.Remember != nil }

// gettingAcquainted counts the keys of somebody who is new here. The hints go
// away after a few, or with the help; that is remembered.
func (m *Model) gettingAcquainted(helped bool) {
	if !m.isNew() {
		return
	}
	m.newKeys++
	if helped || m.newKeys >= hintKeys {
		m.arranged.Acquainted = true
		m.remember()
	}
}

// hintNotice tells somebody who is new here the few keys to begin with.
func (m *Model) hintNotice(l *paint.Line) {
	l.Put(paint.Accent|paint.Bold, "New here?")
	for _, hint := range []struct {
		id   action.ID
		does string
	}{
		{action.Down, "moves"}, {action.FocusNext, "next pane"}, {action.Open, "all about a row"},
		{action.Filter, "finds"}, {action.Palette, "any action"}, {action.Help, "all keys"},
	} {
		key := m.keyOf(hint.id)
		if l.Left() > paint.Width(key)+len(hint.does)+4 {
			l.Space(3).Put(paint.Text|paint.Bold, key).Put(paint.Muted, " "+hint.does)
		}
	}
}
