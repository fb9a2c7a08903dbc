package layout

// The pulse takes the lower right of the intents, where the lanes of ended intents are:
// the lanes of intents that await a person keep their height.
const (
	leastPulse  = 11
	mostPulse   = 22
	leastTop    = 14 // lines of the intents above it: five cards
	pulseHeight = 42 // percent of the height of both
)

// top divides the first row between the intents and the pulse. Without room for both, the
// intents get all of it.
func (l *Layout) top(row Rect, hidden Hidden) {
	whole := l.whole(row)
	switch {
	case hidden[Intents]:
		l.Panes[Pulse] = row
		return
	case hidden[Pulse] || row.W < LanesFrom || whole < leastTop+1+leastPulse:
		l.Panes[Intents] = row
		return
	}
	h := min(max(whole*pulseHeight/100, leastPulse), mostPulse)
	left := thirdLane(row.W) - gap
	w := row.W - left - gap
	above := row.H - h - 1
	l.Panes[Intents] = Rect{row.X, row.Y, row.W, above}
	l.Foot = Rect{row.X, row.Y + above, left, h + 1}
	l.Panes[Pulse] = Rect{row.X + left + gap, row.Y + above + 1, w, h}
}

// LaneShares divide the width among the lanes of the intents, in their order: lanes with
// amounts and countdowns need more. Intents in the last one are rare.
var LaneShares = [...]int{18, 25, 19, 21, 21, 14}

// LaneGap is the number of columns between two lanes.
const LaneGap = gap

// thirdLane returns the first column of the third of five lanes.
func thirdLane(w int) (x int) {
	usual := LaneShares[:len(LaneShares)-1]
	room, sum := w-(len(usual)-1)*LaneGap, 0
	for _, share := range usual {
		sum += share
	}
	for _, share := range usual[:2] {
		x += room*share/sum + LaneGap
	}
	return x
}

// PulseVisible reports whether the pulse has a place on the board beside other panes.
func PulseVisible(r Request) bool {
	r.Focus, r.Zoom = Detail, false
	return !Arrange(r).Panes[Pulse].Empty()
}
