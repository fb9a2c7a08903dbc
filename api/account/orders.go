package account

import (
	"slices"
	"strings"

	"tillwatch/api"
)

// Orders groups intents by their reference.
type Orders struct {
	items     map[api.Text][]api.ID
	reference map[api.ID]api.Text // by intent, of those that have one
}

// NewOrders returns an empty one.
func NewOrders() *Orders {
	return &Orders{items: map[api.Text][]api.ID{}, reference: map[api.ID]api.Text{}}
}

// Put adds or updates an intent. It returns the intent's previous reference if that was another one, otherwise "".
// Intents with a masked reference are in no order: masked references cannot be told apart.
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

// Drop removes an intent, and returns its reference; "" for none.
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

// Items returns the intents of a reference. The caller must not change the list.
func (o *Orders) Items(reference api.Text) []api.ID { return o.items[reference] }

// Order returns the order of a reference, built from the intents that find returns; nil for none.
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
