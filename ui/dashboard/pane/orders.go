package pane

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// orders holds the grouped intents: each order is a head above its items; intents without
// an order stand between them.
type orders struct {
	known  *account.Orders
	list   *table.Table[*orderRow]
	inList *sorting[*intentRow] // the chosen sorting of intents
	cards  *cards
}

func newOrders(inList *sorting[*intentRow], c *cards) *orders {
	o := &orders{known: account.NewOrders(), inList: inList, cards: c}
	o.list = table.New(table.Config[*orderRow]{Key: (*orderRow).key, Compare: o.compare, Match: matchOrder})
	return o
}

// orderRow is a row of the grouped intents.
type orderRow struct {
	id         string         // its key in the table
	*intentRow                // of a head: its most urgent item, with the figures of the whole order
	order      *account.Order // of a head; nil for an intent
	items      []*intentRow   // of a head
	head       *orderRow      // of an item; nil for a head, and for an intent without order
}

func (r *orderRow) key() string { return r.id }

func newOrderRow(row *intentRow, head *orderRow) *orderRow {
	return &orderRow{id: string(row.ID), intentRow: row, head: head}
}

// headKey returns the key of a head. No intent has it: ids are printable.
func headKey(reference api.Text) string { return "\x00" + string(reference) }

// leading returns the row that decides the place of a row: of an item, its head.
func (r *orderRow) leading() *orderRow {
	if r.head != nil {
		return r.head
	}
	return r
}

func (r *orderRow) subject() Subject {
	if r.order != nil {
		return Subject{Kind: OfOrder, Reference: r.order.Reference}
	}
	return Subject{Kind: OfIntent, ID: r.ID}
}

// matchOrder matches the items that a filter finds, and their heads.
func matchOrder(row *orderRow, filter any) bool {
	if row.order == nil {
		return matchRow(row.intentRow, filter)
	}
	return slices.ContainsFunc(row.items, func(item *intentRow) bool { return matchRow(item, filter) })
}

// compare sorts orders and intents by the chosen sorting of intents, and the head of an
// order before its items.
func (o *orders) compare(a, b *orderRow) int {
	if first, second := a.leading(), b.leading(); first != second {
		if c := o.inList.compare(first.intentRow, second.intentRow); c != 0 {
			return c
		}
		if c := cmp.Compare(first.id, second.id); c != 0 {
			return c
		}
	}
	if a.order != nil || b.order != nil {
		return cmp.Compare(len(b.items), len(a.items)) // only a head has items
	}
	return o.inList.compare(a.intentRow, b.intentRow)
}

// arrange applies changed rows and removed ids. It makes all rows of a changed order again:
// their head decides their place.
func (o *orders) arrange(all map[api.ID]*intentRow, changed []*intentRow, gone []api.ID) {
	touched := map[api.Text]bool{}
	for _, id := range gone {
		touched[o.known.Drop(id)] = true
		o.list.Remove(string(id))
	}
	var rows []*orderRow
	for _, row := range changed {
		touched[o.known.Put(row.Intent)] = true
		if touched[row.ReferenceID] = true; len(o.known.Items(row.ReferenceID)) == 0 {
			rows = append(rows, newOrderRow(row, nil)) // without order
		}
	}
	for reference := range touched {
		rows = append(rows, o.rowsOf(all, reference)...)
	}
	o.list.Upsert(rows...)
}

// rowsOf makes the rows of an order. A single remaining item loses its head.
func (o *orders) rowsOf(all map[api.ID]*intentRow, reference api.Text) []*orderRow {
	var items []*intentRow
	for _, id := range o.known.Items(reference) {
		if row := all[id]; row != nil {
			items = append(items, row)
		}
	}
	var head *orderRow
	var rows []*orderRow
	if len(items) > 1 {
		head = o.headOf(reference, items)
		rows = append(rows, head)
	} else {
		o.list.Remove(headKey(reference))
	}
	for _, row := range items {
		rows = append(rows, newOrderRow(row, head))
	}
	return rows
}

func (o *orders) headOf(reference api.Text, items []*intentRow) *orderRow {
	var intents []*account.Intent
	for _, item := range items {
		intents = append(intents, item.Intent)
	}
	order := account.NewOrder(reference, intents)
	row := *slices.MinFunc(items, func(a, b *intentRow) int {
		return cmp.Or(compareInList(a, b), cmp.Compare(a.ID, b.ID))
	})
	in := *row.Intent
	in.Total, row.expires = nil, time.Time{}
	if len(order.Totals) > 0 {
		in.Total = &order.Totals[0]
	}
	if order.Closing != nil {
		row.expires = expiryOf(order.Closing, o.cards.window)
	}
	in.Merchant = merchants(items)
	for _, item := range items {
		if !item.turned.Before(row.turned) {
			row.turned = item.turned
		}
	}
	row.Intent, row.total = &in, wording.Sum(order.Totals, 0)
	head := &orderRow{id: headKey(reference), intentRow: &row, order: order, items: items}
	if len(order.Totals) == 1 {
		o.cards.widest = max(o.cards.widest, paint.Width(o.cards.sum(head)))
	}
	return head
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
