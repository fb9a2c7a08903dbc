package dashboard

import (
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// marks holds the intents that a person has marked, to confirm them together.
type marks struct {
	*shared
	confirms *confirms
	set      map[api.ID]bool
	stayed   pane.Subject // the last row, after it was marked and the cursor could not move on
}

// toggle marks or unmarks the intent under the cursor, and reports whether the cursor should
// move on. On the last row the cursor stays: pressing the key once too often does not remove the
// mark that was just set there.
func (s *marks) toggle() (moves bool) {
	in, ok := s.board.intentUnder()
	if !ok {
		return false
	}
	if s.set[in.ID] && s.board.subject() == s.stayed {
		s.notices.say(plain, "the last row is marked already: move away and back to unmark it, or press "+s.cfg.Actions.KeyOf(action.Unmark))
		return false
	}
	s.put(in.ID, !s.set[in.ID])
	return true
}

// stay notes that the cursor could not move on from a row.
func (s *marks) stay(row pane.Subject) {
	if in, ok := s.board.intentOf(row); ok && s.set[in.ID] && s.board.subject() == row {
		s.stayed = row
	}
}

// visit notes whether the cursor has moved elsewhere.
func (s *marks) visit() {
	if s.board.subject() != s.stayed {
		s.stayed = pane.Subject{}
	}
}

// all marks all intents that the pane shows and that can be confirmed.
func (s *marks) all() {
	var ids []api.ID
	for row := range s.board.intents.Shown() {
		ids = append(ids, row.ID)
	}
	s.mark(ids, "shown")
}

// mark marks the intents that can be confirmed, and says how many. chosen says in words
// how they were chosen.
func (s *marks) mark(ids []api.ID, chosen string) {
	var fresh, marked, left int
	shown, reason := len(ids), ""
	for _, id := range ids {
		in, ok := s.picture.intents[id]
		if !ok || in.State != api.AwaitingConfirmation {
			continue
		}
		if why := s.confirms.unconfirmable(in); why != "" {
			if left++; reason == "" {
				reason = why
			} else if reason != why {
				reason = "for several reasons"
			}
			continue
		}
		marked++
		if !s.set[id] {
			fresh++
			s.put(id, true)
		}
	}
	kind, text := plain, wording.Counted(fresh, "intent", "intents")+" marked"
	switch {
	case marked == 0:
		kind, text = warning, "none of the "+wording.Count(shown)+" "+chosen+" can be confirmed now"
		if shown == 1 {
			text = "the one " + chosen + " cannot be confirmed now"
		}
	case fresh == 0:
		text = "all of them are marked already"
	}
	if left > 1 {
		reason, _, _ = strings.Cut(reason, ":") // the rest says what to do with a single intent
	}
	if left > 0 {
		kind, text = warning, text+"; "+wording.Count(left)+" left out: "+reason
	}
	s.notices.say(kind, text)
}

func (s *marks) put(id api.ID, marked bool) {
	if marked {
		s.set[id] = true
	} else {
		delete(s.set, id)
	}
	s.board.intents.SetMarked(id, marked)
}

// clear removes all marks.
func (s *marks) clear() {
	for id := range s.set {
		s.put(id, false)
	}
}

// keep removes the marks of intents that no longer await confirmation.
func (s *marks) keep() {
	for id := range s.set {
		if in, ok := s.picture.intents[id]; !ok || in.State != api.AwaitingConfirmation {
			s.put(id, false)
		}
	}
}

// toggleOrder marks the items of the order under the cursor that can be confirmed, or
// removes these marks. It returns the shown items, past which the cursor should move.
func (s *marks) toggleOrder() (ids []api.ID) {
	ids = s.board.intents.ItemsUnder()
	unmarked := func(id api.ID) bool {
		in, ok := s.picture.intents[id]
		return ok && !s.set[id] && s.confirms.unconfirmable(in) == ""
	}
	marked := func(id api.ID) bool { return s.set[id] }
	if slices.ContainsFunc(ids, unmarked) || !slices.ContainsFunc(ids, marked) {
		s.mark(ids, "of the order")
	} else {
		for _, id := range ids {
			s.put(id, false)
		}
	}
	return ids
}

// disabled says why the intent under the cursor cannot be marked; "" if it can.
func (s *marks) disabled() string {
	if s.board.headUnder() {
		return ""
	}
	in, ok := s.board.intentUnder()
	switch {
	case !ok:
		return "no intent under the cursor"
	case s.set[in.ID]:
		return ""
	}
	return s.confirms.unconfirmable(in)
}

// clearDisabled says why no mark can be removed; "" if one can.
func (s *marks) clearDisabled() string {
	if len(s.set) == 0 {
		return "nothing is marked"
	}
	return ""
}

// allDisabled says why the shown rows cannot be marked; "" if they can.
func (s *marks) allDisabled() string {
	if s.board.focus != layout.Intents {
		return "only intents can be marked: " + s.cfg.Actions.KeyOf(action.FocusPane1) + " goes there"
	}
	return ""
}
