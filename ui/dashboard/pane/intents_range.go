package pane

import "tillwatch/api"

// A range extends from the row where it began to the cursor, within a lane or the list.

// StartRange begins a range at the cursor.
func (p *Intents) StartRange() {
	p.anchor, p.stale = p.table().CursorKey(), true
}

// EndRange ends the range. It returns false if there was none.
func (p *Intents) EndRange() bool {
	was := p.Ranging()
	p.anchor, p.stale = "", p.stale || p.anchor != ""
	return was
}

// Ranging reports whether there is a range. It ends when its first row disappears or the
// cursor leaves its lane.
func (p *Intents) Ranging() bool {
	from, to := p.span()
	return from <= to
}

// span returns the first and the last row of the range; to is below from if there is none.
func (p *Intents) span() (from, to int) {
	if p.anchor == "" {
		return 0, -1
	}
	shown := p.table()
	at, ok := shown.Find(p.anchor)
	if !ok {
		return 0, -1
	}
	return min(at, shown.Index()), max(at, shown.Index())
}

// Ranged lists the intents of the range. If that is only the head of an order, it lists the
// shown items of the order.
func (p *Intents) Ranged() (ids []api.ID) {
	from, to := p.span()
	if from == to && p.OrderUnder() != nil {
		return p.ItemsUnder()
	}
	for _, row := range p.table().Found()[from : to+1] {
		if row.order == nil {
			ids = append(ids, row.ID)
		}
	}
	return ids
}
