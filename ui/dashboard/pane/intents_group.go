package pane

import (
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
	before, pinned := p.Subject(), p.cursor().Pinned()
	p.orders, p.anchor, p.stale = nil, "", true
	if on {
		p.orders = newOrders(&p.inList, &p.cards)
		p.orders.list.SetHeight(p.h - p.head())
		filterTable(p.orders.list, p.filter, p.look.Now)
		p.orders.arrange(p.rows, slices.Clone(p.list.All()), nil)
	}
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
	if p.orders != nil {
		if row, ok := p.orders.list.Cursor(); ok {
			return row.order
		}
	}
	return nil
}

// ItemsUnder lists the items of that order which pass the filter.
func (p *Intents) ItemsUnder() (ids []api.ID) {
	rows := p.orders.list.Found()
	for _, row := range rows[p.orders.list.Index()+1:] {
		if row.head == nil || row.head.order.Reference != rows[p.orders.list.Index()].order.Reference {
			break
		}
		ids = append(ids, row.ID)
	}
	return ids
}
