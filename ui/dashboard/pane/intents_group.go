package pane

import (
	"maps"
	"slices"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Grouped reports whether the intents are grouped by order.
func (p *Intents) Grouped() bool { return p.orders != nil }

// Group groups the intents by order, or ungroups them. The cursor stays on its intent.
func (p *Intents) Group(on bool) {
	if on == p.Grouped() {
		return
	}
	before, pinned := p.Subject(), p.table().Pinned()
	rows := slices.Collect(maps.Values(p.rows))
	p.orders, p.stale = nil, true
	if on {
		p.orders = account.NewOrders()
		rows = p.arrange(rows, nil)
	}
	p.list.Clear()
	p.list.Upsert(rows...)
	if pinned {
		p.reselect(before)
	}
}

// reselect puts the cursor back on its subject, or on an item of it.
func (p *Intents) reselect(s Subject) {
	if s.Kind != OfOrder {
		p.Select(s.ID)
		return
	}
	for _, row := range p.list.All() {
		if row.ReferenceID == s.Reference && p.Select(row.ID) {
			return
		}
	}
}

// OrderUnder returns the order whose head is under the cursor; nil if there is none.
func (p *Intents) OrderUnder() *account.Order {
	if row, ok := p.table().Cursor(); ok {
		return row.order
	}
	return nil
}

// ItemsUnder lists the items of that order which pass the filter.
func (p *Intents) ItemsUnder() (ids []api.ID) {
	rows := p.list.Found()[p.list.Index():]
	for _, row := range rows[1:] {
		if row.head == nil || row.head.key() != rows[0].key() {
			break
		}
		ids = append(ids, row.ID)
	}
	return ids
}
