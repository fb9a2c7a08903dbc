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

func intentOrders(own func(a, b *intentRow) int) []order[*intentRow] {
	return []order[*intentRow]{
		{"urgency", own},
		{"age", func(a, b *intentRow) int { return a.Since.Compare(b.Since) }},
		{"total", func(a, b *intentRow) int { return cmp.Compare(worth(b), worth(a)) }},
		{"product", func(a, b *intentRow) int { return cmp.Compare(a.Product, b.Product) }},
		{"merchant", func(a, b *intentRow) int { return cmp.Compare(a.Merchant, b.Merchant) }},
	}
}

// worth is comparable among totals of one currency; an intent without a total
// is worth least.
func worth(r *intentRow) int64 {
	if r.Total == nil {
		return -1 << 62
	}
	return r.Total.Subunits
}

// Sort changes to the next order, or turns the order round, and returns its name.
func (p *Intents) Sort(reverse bool) string {
	if reverse {
		p.sorting.reversed = !p.sorting.reversed
	} else {
		p.sorting.cycle(len(intentOrders(compareInLane)))
	}
	inLane, name := chosen(p.sorting, intentOrders(compareInLane))
	for _, lane := range p.lanes {
		lane.SetCompare(inLane)
	}
	inList, _ := chosen(p.sorting, intentOrders(compareInList))
	p.list.SetCompare(inList)
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
