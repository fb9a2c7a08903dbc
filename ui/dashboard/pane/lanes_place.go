package pane

import "tillwatch/ui/dashboard/layout"

// cell is the place of a lane: its first column and its width.
type cell struct{ lane, x, w int }

const (
	laneGap  = layout.LaneGap
	mostLane = 80 // the greatest width of a lane: its two ends still read as one line
)

// divide gives each lane its columns; the last gets the remainder.
func (s *laneSet) divide() {
	s.cells = s.cells[:0]
	room, sum, last := s.w+laneGap, 0, 0
	for i, lane := range s.tables {
		if i == laneOther && lane.Total() == 0 {
			continue
		}
		sum += layout.LaneShares[i]
		last = i
		room -= laneGap
		s.cells = append(s.cells, cell{lane: i})
	}
	x, left := 0, room
	for i := range s.cells {
		c := &s.cells[i]
		c.w = min(room*layout.LaneShares[c.lane]/sum, mostLane)
		if c.lane == last {
			c.w = min(left, mostLane)
		}
		left -= c.w
		c.x = x
		x += c.w + laneGap
	}
}
