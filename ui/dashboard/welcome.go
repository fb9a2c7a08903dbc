package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// hintKeys is after how many keys the hints disappear.
const hintKeys = 5

// welcome shows a new user the first few keys.
type welcome struct {
	cfg         *Config
	preferences *preferences
	pressed     int // number of keys pressed while the hints are shown
}

// isNew reports whether the hints are shown.
func (w *welcome) isNew() bool { return !w.preferences.Acquainted && w.cfg.Remember != nil }

// press counts a key. After a few keys, or once the help was opened, the hints disappear
// for good.
func (w *welcome) press(helped bool) {
	if !w.isNew() {
		return
	}
	w.pressed++
	if helped || w.pressed >= hintKeys {
		w.preferences.Acquainted = true
		w.preferences.keep()
	}
}

func (w *welcome) draw(l *paint.Line) {
	l.Put(paint.Accent|paint.Bold, "New here?")
	for _, hint := range []struct {
		id   action.ID
		does string
	}{
		{action.Down, "moves"}, {action.FocusNext, "next pane"}, {action.Open, "all about a row"},
		{action.Filter, "finds"}, {action.Palette, "any action"}, {action.Help, "all keys"},
	} {
		key := w.cfg.Actions.KeyOf(hint.id)
		if l.Left() > paint.Width(key)+len(hint.does)+4 {
			l.Space(3).Put(paint.Text|paint.Bold, key).Put(paint.Muted, " "+hint.does)
		}
	}
}
