package pane

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// While the list is grouped, an order is a head above its items; intents without an order
// stand between them.

// headKey returns the key of a head. No intent has it: ids are printable.
func headKey(reference api.Text) string { return "\x00" + string(reference) }

// leading returns the row that decides the place of a row: of an item, its head.
func (r *intentRow) leading() *intentRow {
	if r.head != nil {
		return r.head
	}
	return r
}

// matchIntent matches the intents that a filter finds, and the heads above them.
func matchIntent(row *intentRow, filter any) bool {
	if row.order == nil {
		return matchRow(row, filter)
	}
	return slices.ContainsFunc(row.items, func(item *intentRow) bool { return matchRow(item, filter) })
}

// compareListed sorts orders and intents by the chosen sorting, and the head of an order
// before its items.
func (p *Intents) compareListed(a, b *intentRow) int {
	if first, second := a.leading(), b.leading(); first != second {
		if c := p.compare(first, second); c != 0 {
			return c
		}
		if c := cmp.Compare(first.key(), second.key()); c != 0 {
			return c
		}
	}
	if a.order != nil || b.order != nil {
		return cmp.Compare(len(b.items), len(a.items)) // only a head has items
	}
	return p.compare(a, b)
}

// arrange returns the rows of the grouped list for changed rows and removed ids. It renews all
// rows of a changed order, because their head decides their place.
func (p *Intents) arrange(changed []*intentRow, gone []api.ID) (rows []*intentRow) {
	touched := map[api.Text]bool{}
	for _, id := range gone {
		touched[p.orders.Drop(id)] = true
	}
	for _, row := range changed {
		touched[p.orders.Put(row.Intent)] = true
		if touched[row.ReferenceID] = true; len(p.orders.Items(row.ReferenceID)) == 0 {
			rows = append(rows, row) // without order
		}
	}
	for reference := range touched {
		rows = append(rows, p.rowsOf(reference)...)
	}
	return rows
}

// rowsOf makes the rows of an order. A single remaining item loses its head.
func (p *Intents) rowsOf(reference api.Text) (rows []*intentRow) {
	for _, id := range p.orders.Items(reference) {
		if row := p.rows[id]; row != nil {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		p.list.Remove(headKey(reference))
		return rows
	}
	head := p.headOf(reference, rows)
	for i, row := range rows {
		item := *row // the lanes keep theirs
		item.head = head
		rows[i] = &item
	}
	return append(rows, head)
}

func (p *Intents) headOf(reference api.Text, items []*intentRow) *intentRow {
	var intents []*account.Intent
	for _, item := range items {
		intents = append(intents, item.Intent)
	}
	order := account.NewOrder(reference, intents)
	row := *slices.MinFunc(items, func(a, b *intentRow) int {
		return cmp.Or(compareIntents(a, b), cmp.Compare(a.ID, b.ID))
	})
	in := *row.Intent
	in.Total, row.expires = nil, time.Time{}
	if len(order.Totals) > 0 {
		in.Total = &order.Totals[0]
	}
	if order.Closing != nil {
		row.expires = expiryOf(order.Closing, p.cards.window)
	}
	in.Merchant = merchants(items)
	for _, item := range items {
		if !item.turned.Before(row.turned) {
			row.turned = item.turned
		}
	}
	row.Intent, row.total = &in, wording.Sum(order.Totals, 0)
	row.order, row.items = order, slices.Clone(items)
	if len(order.Totals) == 1 {
		p.cards.widest = max(p.cards.widest, paint.Width(p.cards.sum(&row)))
	}
	return &row
}

// merchants returns the merchant of an order, or how many there are.
func merchants(items []*intentRow) api.Text {
	var different map[api.Text]bool
	for _, item := range items {
		if different == nil && item.Merchant != items[0].Merchant {
			different = map[api.Text]bool{items[0].Merchant: true}
		}
		if different != nil {
			different[item.Merchant] = true
		}
	}
	if different == nil {
		return items[0].Merchant
	}
	return api.Scrub(wording.Counted(len(different), "merchant", "merchants"))
}
