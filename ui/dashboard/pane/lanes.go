package pane

import (
	"cmp"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
)

// laneSet is the lanes of the intents: a table for each, where it stands, and which
// of them the cursor is in.
type laneSet struct {
	*frame
	tables   [lanes]*table.Table[*intentRow]
	at       int         // that the cursor is in
	left     int         // that a filter has taken the cursor from, from 1 on; 0 for none
	filtered bool        // a filter shows some of the rows
	hits     [lanes]bool // where the filter has found something since it was set
	cells    []cell      // as last drawn
}

func newLaneSet(of *frame) laneSet {
	s := laneSet{frame: of, at: laneAwaiting}
	for i := range s.tables {
		s.tables[i] = table.New(intentTable(compareInLane))
	}
	return s
}

// current is the lane that the cursor is in.
func (s *laneSet) current() *table.Table[*intentRow] { return s.tables[s.at] }

// choose puts the cursor on a row, and reports whether a lane shows it.
func (s *laneSet) choose(row *intentRow) bool {
	if row.lane >= lanes || !s.tables[row.lane].Select(string(row.ID)) {
		return false
	}
	s.enter(row.lane)
	return true
}

// enter has the cursor in a lane, where it stays.
func (s *laneSet) enter(lane int) { s.at, s.left = lane, 0 }

// under is the lane at a column of the pane.
func (s *laneSet) under(x int) (lane int, ok bool) {
	s.place()
	for _, c := range s.cells {
		if x >= c.x && x < c.x+c.w+laneGap {
			return c.lane, true
		}
	}
	return 0, false
}

// setFilter shows only what a filter finds, in place of the one before.
func (s *laneSet) setFilter(f, before *Filter) {
	if f != before {
		s.hits = [lanes]bool{}
	}
	for _, lane := range s.tables {
		filterTable(lane, f, s.look.Now)
	}
	s.filtered = f != nil
	s.findHits()
}

// find moves the cursor to a lane where the filter finds something, if that is wanted,
// and back once the lane that it came from has a row again.
func (s *laneSet) find(wanted bool) {
	if s.left > 0 && s.tables[s.left-1].Shown() > 0 {
		s.at, s.left = s.left-1, 0
	}
	if !wanted || s.tables[s.at].Shown() > 0 {
		return
	}
	for i, lane := range s.tables {
		if lane.Shown() > 0 {
			s.at, s.left = i, cmp.Or(s.left, s.at+1)
			return
		}
	}
}

// change moves the cursor to the next lane that is not folded.
func (s *laneSet) change(by int) {
	for i := s.at + by; i >= 0 && i < lanes; i += by {
		if (i != laneOther || s.tables[i].Total() > 0) && !s.folds(i) {
			s.enter(i)
			return
		}
	}
}

// follows reports whether a person put the cursor on a row, so that it goes
// along when the row moves to another lane.
func (s *laneSet) follows(row *intentRow) bool {
	if s.at != row.lane || !s.tables[row.lane].Pinned() {
		return false
	}
	under, ok := s.tables[row.lane].Cursor()
	return ok && under.ID == row.ID
}

// fit divides the pane among the lanes.
func (s *laneSet) fit() {
	s.place()
	for _, c := range s.cells {
		s.tables[c.lane].SetHeight(s.cardsOf(c))
	}
}

// mostCards is how many cards fit into a lane of the whole height.
func (s *laneSet) mostCards() int { return cardsIn(s.h) }

// cardsOf is how many fit into a lane, which ends above the notch where it stands
// there.
func (s *laneSet) cardsOf(c cell) int {
	if s.notch.h > 0 && c.x+c.w > s.w-s.notch.w {
		return cardsIn(s.h - s.notch.h)
	}
	return s.mostCards()
}

// cardsIn is how many cards fit into so many lines: two lines each, below the title,
// the heads and the rule, above the line with the number of the rest.
func cardsIn(h int) int { return max((h-4)/2, 1) }

func laneMark(lane int) sign.Sign {
	if lane == laneOther {
		return sign.Sign{Glyph: "?", Word: "other", Style: paint.Unlisted}
	}
	return sign.Intent(laneStates[lane])
}
