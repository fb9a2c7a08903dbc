package account

import (
	"cmp"
	"fmt"
	"time"

	"tillwatch/api"
)

// orderBook keeps the orders of a store, and the alerts that stand for them.
type orderBook struct {
	*Orders
	seen    uint64 // the version up to which changes are taken in
	touched map[api.Text]bool
	alerts  map[api.Text]alertKey
}

func newOrderBook() orderBook {
	return orderBook{Orders: NewOrders(), touched: map[api.Text]bool{}, alerts: map[api.Text]alertKey{}}
}

// knowOrders takes in what has changed. It must come first in a critical section:
// what that goes on to change is known to the next.
func (s *Store) knowOrders() {
	b := &s.orders
	if b.seen == s.news.version {
		return
	}
	gone, all := s.intents.goneSince(b.seen)
	if !all {
		for reference := range b.items {
			b.touched[reference] = true
		}
		b.Orders, b.seen = NewOrders(), 0
	}
	for _, id := range gone {
		b.touched[b.Drop(id)] = true
	}
	for _, in := range s.intents.since(b.seen) {
		b.touched[b.Put(&in.Intent)] = true
		b.touched[in.ReferenceID] = true
	}
	b.seen = s.news.version
}

func (s *Store) order(reference api.Text) *Order {
	return s.orders.Order(reference, func(id api.ID) *Intent {
		if in := s.intents.get(id); in != nil {
			return &in.Intent
		}
		return nil
	})
}

// Order returns the intents that share a reference; nil where none has it.
func (s *Store) Order(reference api.Text) *Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.knowOrders()
	return s.order(reference)
}

// References lists what intents are referred to by, in no order.
func (s *Store) References() []api.Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.knowOrders()
	var all []api.Text
	for reference := range s.orders.items {
		all = append(all, reference)
	}
	return all
}

// judgeOrders judges the orders that changed, and those whose alert stands.
func (s *Store) judgeOrders(now time.Time) {
	b := &s.orders
	for reference := range b.alerts {
		b.touched[reference] = true
	}
	for reference := range b.touched {
		var o *Order
		if len(b.Items(reference)) > 1 {
			o = s.order(reference)
		}
		before, stood := b.alerts[reference]
		key, stands := alertKey{}, o != nil && s.alerts.concernsOrder(o, now)
		if stands {
			key = alertKey{kind: AlertOrder, intent: o.Failed[0].ID, cause: string(reference)}
			a := Alert{Order: reference, Since: s.alerts.since(before, now), Text: s.nameOfOrder(o) + " " + o.Trouble()}
			if o.Closing != nil {
				a.Due = o.Closing.ExpiresAt
			}
			s.alerts.renew(true, key, a)
			b.alerts[reference] = key
		}
		if stood && before != key {
			s.alerts.renew(false, before, Alert{})
			if !stands {
				delete(b.alerts, reference)
			}
		}
	}
	clear(b.touched)
}

// concernsOrder reports whether an order failed in part and there still is something
// to decide, or was until a while ago. Of one that was created long before, it is only
// known since when its end is known.
func (b *alerts) concernsOrder(o *Order, now time.Time) bool {
	lasts := b.cfg.PartlyFor
	switch {
	case lasts <= 0 || !o.PartlyFailed:
		return false
	case o.Ended.IsZero():
		return true
	}
	created := o.Intents[len(o.Intents)-1].CreatedAt
	return now.Sub(o.Ended) < lasts && (created.IsZero() || o.Ended.Sub(created) < b.window+lasts)
}

// Trouble says what is wrong with an order that failed in part, and what to do.
func (o *Order) Trouble() string {
	text := fmt.Sprintf("is partly failed, %d of %d items: ", len(o.Failed), len(o.Intents))
	switch {
	case o.Closing != nil:
		return text + "ask the buyer before you confirm the rest"
	case o.Ended.IsZero():
		return text + "the rest goes on; order again what failed"
	}
	return text + "order again what failed, or return the rest at its merchant"
}

// nameOfOrder is the reference of an order, unless that repeats something of a buyer:
// the words of an alert leave the process.
func (s *Store) nameOfOrder(o *Order) string {
	for _, item := range o.Intents {
		in := s.intents.get(item.ID)
		if in.Latest != nil && unlessQuoting(in.Latest.Buyer, o.Reference) == "" {
			return "the order of " + cmp.Or(string(item.Product), string(item.ID))
		}
	}
	return string(o.Reference)
}
