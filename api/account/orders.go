package account

import (
	"slices"
	"strings"

	"tillwatch/api"
)

// Orders finds the intents that share a reference.
type Orders struct {
	items     map[api.Text][]api.ID
	reference map[api.ID]api.Text // of each intent that has one
}

// NewOrders knows of no intent.
func NewOrders() *Orders {
	return &Orders{items: map[api.Text][]api.ID{}, reference: map[api.ID]api.Text{}}
}

// Put takes an intent in as it is now, and returns the reference that it had before
// where that was another one; "" for none. References that are masked distinguish
// nothing: such intents are in no order.
func (o *Orders) Put(in *Intent) (left api.Text) {
	now, before := in.ReferenceID, o.reference[in.ID]
	if strings.Contains(string(now), hidden) {
		now = ""
	}
	if now == before {
		return ""
	}
	o.Drop(in.ID)
	if now != "" {
		o.reference[in.ID] = now
		o.items[now] = append(o.items[now], in.ID)
	}
	return before
}

// Drop lets go of an intent, and returns the reference that it had.
func (o *Orders) Drop(id api.ID) (left api.Text) {
	left = o.reference[id]
	if left == "" {
		return ""
	}
	delete(o.reference, id)
	rest := slices.DeleteFunc(o.items[left], func(item api.ID) bool { return item == id })
	if o.items[left] = rest; len(rest) == 0 {
		delete(o.items, left)
	}
	return left
}

// Items lists the intents of a reference; it must not be changed.
func (o *Orders) Items(reference api.Text) []api.ID { return o.items[reference] }

// Order is the order of a reference, of the intents as find knows them; nil where
// there are none.
func (o *Orders) Order(reference api.Text, find func(api.ID) *Intent) *Order {
	var items []*Intent
	for _, id := range o.items[reference] {
		if in := find(id); in != nil {
			items = append(items, in)
		}
	}
	if len(items) == 0 {
		return nil
	}
	return NewOrder(reference, items)
}
