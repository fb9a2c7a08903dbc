package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/replay"
)

// footer is the last line: the useful keys, or a prompt.
type footer struct {
	cfg     *Config
	board   *board
	picture *picture
	replay  *replay.Bar // nil unless it replays
	spots   []spot      // of the last drawing
}

// spot is a click target of the footer between two columns: an action, or the key of
// a prompt.
type spot struct {
	from, to int
	id       action.ID
	key      rune // if there is no action
}

// at is the target at a column.
func (f *footer) at(x int) (spot, bool) {
	for _, s := range f.spots {
		if x >= s.from && x < s.to {
			return s, true
		}
	}
	return spot{}, false
}

// hints shows the keys of a scope.
func (f *footer) hints(l *paint.Line, scope action.Scope) []spot {
	var spots []spot
	for i, hint := range f.cfg.Actions.Footer(scope, l.Left(), f.board.offers, f.reason) {
		if i > 0 {
			l.Space(action.HintGap)
		}
		from := l.At()
		l.Put(paint.Text|paint.Bold, hint.Key).Put(paint.Muted, " ").Fit(paint.Muted, f.title(hint), paint.Width(hint.Title))
		if hint.Reason != "" {
			l.Put(paint.Muted, " — "+hint.Reason)
		}
		spots = append(spots, spot{from: from, to: l.At(), id: hint.ID})
	}
	return spots
}

// title returns what the key of a hint does now: a key that froze or paused undoes that.
func (f *footer) title(hint action.Hint) string {
	switch {
	case hint.ID == action.Freeze && f.picture.frozen != nil:
		return "resume"
	case hint.ID == action.Pause && f.replay != nil && (f.replay.Position().Paused || f.replay.Position().Ended):
		return "play"
	}
	return hint.Title
}

// reason says why nothing can be confirmed. Other reasons appear when a key is
// pressed, so that the footer stands still while the cursor moves.
func (f *footer) reason(id action.ID) string {
	if f.cfg.Armed {
		return ""
	}
	return f.cfg.Actions.ReadOnly(nil)(id)
}
