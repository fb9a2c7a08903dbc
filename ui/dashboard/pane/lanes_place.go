package pane

import "tillwatch/ui/dashboard/layout"

// cell is the place of a lane: its first column and its width.
type cell struct{ lane, x, w int }

const (
	laneGap  = layout.LaneGap
	folded   = 4  // the width of a lane that a filter has emptied: its sign and a 0
	mostLane = 80 // the greatest width of a lane: its two ends still read as one line
)

// divide gives each lane its columns. Lanes that a filter has emptied are folded; the
// last of the others gets the remainder.
func (s *laneSet) divide() {
	s.cells = s.cells[:0]
	s.findHits()
	room, sum, last := s.w+laneGap, 0, 0
	for i, lane := range s.tables {
		switch {
		case i == laneOther && lane.Total() == 0:
			continue
		case s.folds(i):
			room -= folded
		default:
			sum += layout.LaneShares[i]
			last = i
		}
		room -= laneGap
		s.cells = append(s.cells, cell{lane: i})
	}
	x, left := 0, room
	for i := range s.cells {
		c := &s.cells[i]
		switch {
		case s.folds(c.lane):
			c.w = folded
		case c.lane == last:
			c.w = min(left, mostLane)
		default:
			c.w = min(room*layout.LaneShares[c.lane]/sum, mostLane)
		}
		if !s.folds(c.lane) {
			left -= c.w
		}
		c.x = x
		x += c.w + laneGap
	}
}

// findHits notes the lanes with matches. A lane that had one keeps its width as long as the
// filter stays: nothing jumps when its last row leaves.
func (s *laneSet) findHits() {
	for i, lane := range s.tables {
		s.hits[i] = s.hits[i] || lane.Shown() > 0
	}
}

// folds reports whether the filter has found nothing in a lane, but something in another.
func (s *laneSet) folds(lane int) bool {
	return s.filtered && !s.hits[lane] && s.hits != [lanes]bool{}
}
