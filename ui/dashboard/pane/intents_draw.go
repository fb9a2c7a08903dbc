package pane

import (
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

func (p *Intents) drawLanes() {
	p.lanes.fit()
	head := p.start()
	for _, c := range p.lanes.cells {
		p.laneHead(head.To(c.x), c)
	}
	p.push(head)
	l := p.start()
	for _, c := range p.lanes.cells {
		style := paint.Rule
		if p.focused && c.lane == p.lanes.at {
			style = paint.Accent
		}
		l.To(c.x+1).Repeat(style, "─", c.w-1)
	}
	p.push(l)
	if len(p.rows) == 0 {
		p.nothing()
		return
	}
	if shown, _ := p.Matches(); shown == 0 && p.filter != nil {
		p.nothingMatches()
		return
	}
	for row := range p.lanes.cards() {
		for second := range 2 {
			l := p.start()
			for _, c := range p.lanes.cells {
				l.On(paint.Base).To(c.x)
				p.laneLine(l, c, row, second == 1)
			}
			l.On(paint.Base)
			p.push(l)
		}
	}
	l = p.start()
	for _, c := range p.lanes.cells {
		p.overflow(l, c)
	}
	p.push(l)
}

func (p *Intents) laneHead(l *paint.Line, c cell) {
	lane, m := p.lanes.tables[c.lane], laneMark(c.lane)
	style := m.Style
	if lane.Total() == 0 {
		style = paint.Muted
	}
	l.Space(1).Put(style|paint.Bold, m.Glyph+" "+m.Word).Space(1)
	count, of := counted(lane.Total(), p.known), ""
	switch {
	case p.filter != nil && p.filter.hides():
		count, of = wording.Count(lane.Shown()), " of "+wording.Count(lane.Total())
	case c.lane == lanePlacing && p.agents.Limit > 0 && (p.known || lane.Total() > 0):
		of = " of " + wording.Count(p.agents.Limit)
	}
	l.Put(paint.Text|paint.Bold, count)
	if l.At()+len(of) <= c.x+c.w {
		l.Put(paint.Muted, of)
	}
	if (p.filter == nil || !p.filter.hides()) && (p.known || lane.Total() > 0) { // otherwise the rate is as unknown as the count
		arrivals(p.look, l, c)
	}
}

// counted writes a count. While not everything is known, 0 may be wrong: it is a dash.
func counted(n int, known bool) string {
	if n == 0 && !known {
		return "–"
	}
	return wording.Count(n)
}

func (p *Intents) laneLine(l *paint.Line, c cell, index int, second bool) {
	lane := p.lanes.tables[c.lane]
	rows, first := lane.Window()
	if index >= len(rows) {
		if index == 0 && !second {
			l.Space(1).Fit(paint.Muted, "–", c.w-1)
		}
		return
	}
	row := rows[index]
	p.cards.mark(l, row, p.focused && c.lane == p.lanes.at && first+index == lane.Index())
	if second {
		p.cards.cardSecond(l, row, c.w-1)
	} else {
		p.cards.cardFirst(l, row, c.w-1)
	}
}

// overflow draws below a lane how many rows do not fit.
func (p *Intents) overflow(l *paint.Line, c cell) {
	lane := p.lanes.tables[c.lane]
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
