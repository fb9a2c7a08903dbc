package pane

import (
	"cmp"

	"tillwatch/ui/dashboard/paint"
)

// order is one way to sort rows of R.
type order[R any] struct {
	name    string
	compare func(a, b R) int
}

// sorting is the order that a person chose; the first order is the pane's own.
type sorting struct {
	at       int
	reversed bool
}

func (s *sorting) cycle(orders int) { *s = sorting{at: (s.at + 1) % orders} }

// chosen returns how rows compare, and "" for the pane's own order or else the
// name of the chosen one with its direction.
func chosen[R any](s sorting, orders []order[R]) (compare func(a, b R) int, name string) {
	o := orders[s.at]
	if s.reversed {
		return func(a, b R) int { return o.compare(b, a) }, o.name + " ↑"
	}
	if s.at == 0 {
		return o.compare, ""
	}
	return o.compare, o.name + " ↓"
}

func (f *frame) sorted(l *paint.Line, name string) {
	if name != "" {
		l.Put(paint.Muted, " · by ").Put(paint.Text, name)
	}
}

func (p *Intents) orders(own func(a, b *kept) int) []order[*kept] {
	by := func(word func(*kept) uint32) func(a, b *kept) int {
		return func(a, b *kept) int {
			if word(a) == word(b) {
				return 0
			}
			return cmp.Compare(p.shelf.words[word(a)], p.shelf.words[word(b)])
		}
	}
	return []order[*kept]{
		{"urgency", own},
		{"age", func(a, b *kept) int { return cmp.Compare(a.since, b.since) }},
		{"total", func(a, b *kept) int { return cmp.Compare(worth(b), worth(a)) }},
		{"product", by(func(k *kept) uint32 { return k.product })},
		{"merchant", by(func(k *kept) uint32 { return k.merchant })},
	}
}

// worth is comparable among totals of one currency; an intent without a total
// is worth least.
func worth(k *kept) int64 {
	if k.currency == 0 {
		return -1 << 62
	}
	return k.total
}

// Sort changes to the next order, or turns the order round, and returns its name.
func (p *Intents) Sort(reverse bool) string {
	if reverse {
		p.sorting.reversed = !p.sorting.reversed
	} else {
		p.sorting.cycle(len(p.orders(compareInLane)))
	}
	var name string
	p.inLane, name = chosen(p.sorting, p.orders(compareInLane))
	p.inList, _ = chosen(p.sorting, p.orders(compareInList))
	for _, lane := range p.lanes {
		lane.SetCompare(p.places(p.inLane))
	}
	p.list.SetCompare(p.places(p.inList))
	p.order, p.stale = name, true
	return name
}

// Sort changes to the next order, or turns the order round, and returns its name.
func (p *listing[R]) Sort(reverse bool) string {
	if reverse {
		p.sorting.reversed = !p.sorting.reversed
	} else {
		p.sorting.cycle(len(p.orders))
	}
	compare, name := chosen(p.sorting, p.orders)
	if name == "" {
		compare = nil
	}
	p.list.SetCompare(compare)
	p.order, p.stale = name, true
	return name
}

func shipmentOrders() []order[*shipmentRow] {
	return []order[*shipmentRow]{
		{"urgency", compareShipments},
		{"age", func(a, b *shipmentRow) int { return a.touched.Compare(b.touched) }},
		{"estimate", func(a, b *shipmentRow) int { return a.estimate.Compare(b.estimate) }},
		{"product", func(a, b *shipmentRow) int { return cmp.Compare(a.Product, b.Product) }},
		{"carrier", func(a, b *shipmentRow) int { return cmp.Compare(a.carrier, b.carrier) }},
	}
}

func eventOrders() []order[*eventRow] {
	return []order[*eventRow]{
		{"arrival", compareEvents},
		{"type", func(a, b *eventRow) int { return cmp.Compare(a.Type, b.Type) }},
		{"product", func(a, b *eventRow) int { return cmp.Compare(a.Product, b.Product) }},
		{"id", func(a, b *eventRow) int { return cmp.Compare(a.SourceID, b.SourceID) }},
		{"seq", func(a, b *eventRow) int { return cmp.Compare(a.Seq, b.Seq) }},
	}
}

func requestOrders() []order[*requestRow] {
	return []order[*requestRow]{
		{"time", compareRequests},
		{"status", func(a, b *requestRow) int { return cmp.Compare(a.Status, b.Status) }},
		{"path", func(a, b *requestRow) int { return cmp.Compare(a.Path, b.Path) }},
		{"latency", func(a, b *requestRow) int { return cmp.Compare(a.Latency, b.Latency) }},
		{"class", func(a, b *requestRow) int { return cmp.Compare(a.Class, b.Class) }},
		{"attempt", func(a, b *requestRow) int { return cmp.Compare(a.Attempt, b.Attempt) }},
	}
}

func alertOrders() []order[*alertRow] {
	return []order[*alertRow]{
		{"time", compareAlerts},
		{"kind", func(a, b *alertRow) int { return cmp.Compare(a.Kind, b.Kind) }},
		{"text", func(a, b *alertRow) int { return cmp.Compare(a.Text, b.Text) }},
		{"id", func(a, b *alertRow) int { return cmp.Compare(a.Intent, b.Intent) }},
	}
}
