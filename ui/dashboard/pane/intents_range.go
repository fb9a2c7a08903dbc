package pane

import "tillwatch/api"

// A range reaches from the row at which it began to the cursor, in the lane or the
// list that the cursor is in.

// StartRange begins a range at the cursor.
func (p *Intents) StartRange() {
	p.anchor, p.stale = p.cursor().CursorKey(), true
}

// EndRange ends a range, and reports whether there was one.
func (p *Intents) EndRange() bool {
	was := p.Ranging()
	p.anchor, p.stale = "", p.stale || p.anchor != ""
	return was
}

// Ranging reports whether there is a range. One is over when the row at which it began
// is not there any more, or the cursor has left its lane.
func (p *Intents) Ranging() bool {
	from, to := p.span()
	return from <= to
}

// span is the first and the last row of the range; to is below from where there is
// none.
func (p *Intents) span() (from, to int) {
	if p.anchor == "" {
		return 0, -1
	}
	shown := p.cursor()
	at, ok := shown.Find(p.anchor)
	if !ok {
		return 0, -1
	}
	return min(at, shown.Index()), max(at, shown.Index())
}

// Ranged lists the intents of the range. A head that is all of it stands for the items
// that are shown of its order.
func (p *Intents) Ranged() (ids []api.ID) {
	from, to := p.span()
	if p.orders != nil {
		if from == to && p.OrderUnder() != nil {
			return p.ItemsUnder()
		}
		for _, row := range p.orders.list.Found()[from : to+1] {
			if row.order == nil {
				ids = append(ids, row.ID)
			}
		}
		return ids
	}
	for _, row := range p.table().Found()[from : to+1] {
		ids = append(ids, row.ID)
	}
	return ids
}
