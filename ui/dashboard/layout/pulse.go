package layout

// The pulse takes the lower right of the intents, where the lanes of ended intents are:
// the lanes that wait for a person keep their height.
const (
	pulseShare  = 58 // percent of the width
	leastPulse  = 11
	mostPulse   = 22
	leastTop    = 14 // lines of the intents above it: five cards
	pulseHeight = 42 // percent of the height of both
)

// top divides the first row among the intents and the pulse. Without room for both, the
// intents get it all; so does a list, whose columns need the whole width.
func (l *Layout) top(row Rect, hidden Hidden) {
	switch {
	case hidden[Intents]:
		l.Panes[Pulse] = row
		return
	case hidden[Pulse] || row.W < LanesFrom || row.H < leastTop+1+leastPulse:
		l.Panes[Intents] = row
		return
	}
	w := row.W * pulseShare / 100
	h := min(max(row.H*pulseHeight/100, leastPulse), mostPulse)
	left := row.W - w - gap
	above := row.H - h - 1
	l.Panes[Intents] = Rect{row.X, row.Y, row.W, above}
	l.Foot = Rect{row.X, row.Y + above, left, h + 1}
	l.Panes[Pulse] = Rect{row.X + left + gap, row.Y + above + 1, w, h}
}

// PulseVisible reports whether the pulse has a place on the board beside other panes.
func PulseVisible(r Request) bool {
	r.Focus, r.Zoom = Detail, false
	return !Arrange(r).Panes[Pulse].Empty()
}
