package pane

import (
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// fit divides the pane among the lanes.
func (p *Intents) fit() {
	p.place()
	for _, c := range p.cells {
		p.lanes[c.lane].SetHeight(p.cardsOf(c))
	}
}

// laneRows is how many cards fit into a lane of the whole height.
func (p *Intents) laneRows() int { return cardsIn(p.h) }

// cardsOf is how many fit into a lane, which ends above the notch where it stands
// there.
func (p *Intents) cardsOf(c cell) int {
	if p.notch.h > 0 && c.x+c.w > p.w-p.notch.w {
		return cardsIn(p.h - p.notch.h)
	}
	return p.laneRows()
}

// cardsIn is how many cards fit into so many lines: two lines each, below the title,
// the heads and the rule, above the line with the number of the rest.
func cardsIn(h int) int { return max((h-4)/2, 1) }

// overflow says below a lane how many rows do not fit.
func (p *Intents) overflow(l *paint.Line, c cell) {
	lane := p.lanes[c.lane]
	rows, first := lane.Window()
	above, below := first, lane.Shown()-first-len(rows)
	l.To(c.x + 1)
	switch {
	case p.older && below == 0 && (c.lane == laneCompleted || c.lane == laneFailed):
		l.Fit(paint.Muted, "older ones are not kept", c.w-1)
	case above > 0 && below > 0:
		l.Put(paint.Muted, "↑ "+wording.Count(above)+"  ↓ "+wording.Count(below))
	case above > 0:
		l.Put(paint.Muted, "↑ "+wording.Count(above))
	case below > 0:
		l.Put(paint.Muted, "↓ "+wording.Count(below))
	}
}
