package pane

import (
	"cmp"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
)

// laneSet holds the lanes of the intents: their tables, their places, and the lane with the
// cursor.
type laneSet struct {
	*frame
	tables [lanes]*table.Table[*intentRow]
	at     int    // the lane with the cursor
	begun  bool   // the cursor has had a card, or a person has moved it
	left   int    // the lane, counted from 1, from which a filter moved the cursor; 0: none
	cells  []cell // as last drawn
}

func newLaneSet(of *frame) laneSet {
	s := laneSet{frame: of, at: laneAwaiting}
	for i := range s.tables {
		s.tables[i] = table.New(intentTable(compareIntents))
	}
	return s
}

// current returns the lane with the cursor.
func (s *laneSet) current() *table.Table[*intentRow] { return s.tables[s.at] }

// choose puts the cursor on a row. It returns false if no lane shows it.
func (s *laneSet) choose(row *intentRow) bool {
	if row.lane >= lanes || !s.tables[row.lane].Select(string(row.ID)) {
		return false
	}
	s.enter(row.lane)
	return true
}

// enter moves the cursor to a lane, where it stays.
func (s *laneSet) enter(lane int) {
	s.at, s.left, s.begun = lane, 0, true
	s.rest()
}

// rest scrolls the lanes that the cursor has left back to their tops: new rows there would
// otherwise stay out of sight.
func (s *laneSet) rest() {
	for i, lane := range s.tables {
		if i != s.at && i != s.left-1 {
			lane.Rest()
		}
	}
	s.stale = true
}

// under returns the lane at a column of the pane.
func (s *laneSet) under(x int) (lane int, ok bool) {
	s.divide()
	for _, c := range s.cells {
		if x >= c.x && x < c.x+c.w+laneGap {
			return c.lane, true
		}
	}
	return 0, false
}

// setFilter sets the filter.
func (s *laneSet) setFilter(f *Filter) {
	for _, lane := range s.tables {
		filterTable(lane, f, s.look.Now)
	}
}

// find moves the cursor to a lane with matches if wanted, and back once its former lane has
// a row again.
func (s *laneSet) find(wanted bool) {
	if s.left > 0 && s.tables[s.left-1].Shown() > 0 {
		s.enter(s.left - 1)
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

// begin puts the cursor into the first lane with a card, unless its own has one. It does so
// once: a cursor that moved by itself could not be relied on.
func (s *laneSet) begin() {
	if s.begun {
		return
	}
	if s.find(true); s.tables[s.at].Shown() > 0 {
		s.enter(s.at)
	}
}

// change moves the cursor by one lane.
func (s *laneSet) change(by int) {
	for i := s.at + by; i >= 0 && i < lanes; i += by {
		if i != laneOther || s.tables[i].Total() > 0 {
			s.enter(i)
			return
		}
	}
}

// take puts the cursor on the row with a key, in whichever lane that is shown.
func (s *laneSet) take(key string, pinned bool) {
	for i, lane := range s.tables {
		if lane.HoldOn(key, pinned) {
			s.enter(i)
			return
		}
	}
}

// fit places the lanes and sets their heights.
func (s *laneSet) fit() {
	s.divide()
	for _, c := range s.cells {
		s.tables[c.lane].SetHeight(s.cards())
	}
}

// cards returns how many cards fit into a lane. Each has two lines; the title, the heads, the
// rule and the number of further rows take four.
func (s *laneSet) cards() int { return max((s.h-4)/2, 1) }

func laneMark(lane int) sign.Sign {
	if lane == laneOther {
		return sign.Sign{Glyph: "?", Word: "other", Style: paint.Unlisted}
	}
	return sign.Intent(laneStates[lane])
}
