package pane

// cell is the place of a lane: its first column and its width.
type cell struct{ lane, x, w int }

const (
	laneGap  = 2  // columns between two lanes
	mostLane = 80 // the greatest width of a lane: its two ends still read as one line
)

// laneShares divide the width among the lanes, in their order: lanes with amounts and
// countdowns need more. Intents in the last one are rare.
var laneShares = [lanes]int{18, 25, 19, 21, 21, 14}

// divide gives each lane its columns; the last gets the remainder.
func (s *laneSet) divide() {
	s.cells = s.cells[:0]
	room, sum, last := s.w+laneGap, 0, 0
	for i, lane := range s.tables {
		if i == laneOther && lane.Total() == 0 {
			continue
		}
		sum += laneShares[i]
		last = i
		room -= laneGap
		s.cells = append(s.cells, cell{lane: i})
	}
	x, left := 0, room
	for i := range s.cells {
		c := &s.cells[i]
		c.w = min(room*laneShares[c.lane]/sum, mostLane)
		if c.lane == last {
			c.w = min(left, mostLane)
		}
		left -= c.w
		c.x = x
		x += c.w + laneGap
	}
}
