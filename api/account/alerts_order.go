package account

import (
	"cmp"
	"fmt"
	"time"

	"tillwatch/api"
)

// orderBook keeps the orders of a store and raises their alerts.
type orderBook struct {
	*Orders
	news    *news
	intents *intents
	alerts  *alerts
	seen    uint64 // the store's version that the book reflects
	touched map[api.Text]bool
	raised  map[api.Text]alertKey
}

func newOrderBook(n *news, in *intents, a *alerts) orderBook {
	return orderBook{Orders: NewOrders(), news: n, intents: in, alerts: a, touched: map[api.Text]bool{}, raised: map[api.Text]alertKey{}}
}

// update takes in what has changed since the last call. Call it first in a critical section: it sees the changes
// of earlier sections, not those of the current one.
func (b *orderBook) update() {
	if b.seen == b.news.version {
		return
	}
	gone, all := b.intents.goneSince(b.seen)
	if !all {
		for reference := range b.items {
			b.touched[reference] = true
		}
		b.Orders, b.seen = NewOrders(), 0
	}
	for _, id := range gone {
		b.touched[b.Drop(id)] = true
	}
	for _, in := range b.intents.since(b.seen) {
		b.touched[b.Put(&in.Intent)] = true
		b.touched[in.ReferenceID] = true
	}
	b.seen = b.news.version
}

func (b *orderBook) order(reference api.Text) *Order {
	return b.Order(reference, func(id api.ID) *Intent {
		if in := b.intents.get(id); in != nil {
			return &in.Intent
		}
		return nil
	})
}

// Order returns the order of a reference; nil if no intent has it.
func (s *Store) Order(reference api.Text) *Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders.update()
	return s.orders.order(reference)
}

// judge judges the orders that changed, and those with a standing alert.
func (b *orderBook) judge(now time.Time) {
	for reference := range b.raised {
		b.touched[reference] = true
	}
	for reference := range b.touched {
		var o *Order
		if len(b.Items(reference)) > 1 {
			o = b.order(reference)
		}
		before, stood := b.raised[reference]
		key, stands := alertKey{}, o != nil && b.alerts.concernsOrder(o, now)
		if stands {
			key = alertKey{kind: AlertOrder, intent: o.Failed[0].ID, cause: string(reference)}
			a := Alert{Order: reference, Since: b.alerts.since(before, now), Text: b.nameOf(o) + " " + o.Trouble()}
			if o.Closing != nil {
				a.Due = b.alerts.clock.here(o.Closing.ExpiresAt)
			}
			b.alerts.renew(true, key, a)
			b.raised[reference] = key
		}
		if stood && before != key {
			b.alerts.renew(false, before, Alert{})
			if !stands {
				delete(b.raised, reference)
			}
		}
	}
	clear(b.touched)
}

// concernsOrder reports whether an order failed in part and still needs a decision, or needed one until a while
// ago. If it was created long before, that is only known if its end is.
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

// Trouble says what is wrong with a partly failed order and what to do about it.
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

// nameOf is the reference of an order, unless that quotes the buyer: the text of an alert leaves the process.
func (b *orderBook) nameOf(o *Order) string {
	for _, item := range o.Intents {
		in := b.intents.get(item.ID)
		if in.Latest != nil && unlessQuoting(in.Latest.Buyer, o.Reference) == "" {
			return "the order of " + cmp.Or(string(item.Product), string(item.ID))
		}
	}
	return string(o.Reference)
}
