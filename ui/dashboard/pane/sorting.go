package pane

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
)

// order is one way to sort rows of R.
type order[R any] struct {
	name    string
	falls   bool             // descending: the most, the longest or the last comes first
	compare func(a, b R) int // -1, 0 or 1, or ±bothWays
}

// sorting holds the chosen order; the first of orders is the default.
type sorting[R any] struct {
	orders   []order[R]
	at       int
	reversed bool
	order    string // the name of the chosen order with its direction; "": the default
}

func by[R any](orders []order[R]) sorting[R] { return sorting[R]{orders: orders} }

// Orders returns the names of the orders, the default first.
func (s *sorting[R]) Orders() []string {
	names := make([]string, len(s.orders))
	for i, o := range s.orders {
		names[i] = o.name
	}
	return names
}

// turn changes to the order with a name, or to the next one if there is none with that
// name; with reverse it reverses the current order.
func (s *sorting[R]) turn(name string, reverse bool) {
	at := slices.Index(s.Orders(), name)
	switch {
	case reverse:
		s.reversed = !s.reversed
	case at >= 0:
		s.at, s.reversed = at, false
	default:
		s.at, s.reversed = (s.at+1)%len(s.orders), false
	}
	o := s.orders[s.at]
	switch {
	case s.at == 0 && !s.reversed:
		s.order = ""
	case o.falls != s.reversed:
		s.order = o.name + " ↓"
	default:
		s.order = o.name + " ↑"
	}
}

// compare compares two rows in the chosen order. Unknown values come last, also in a reversed
// order.
func (s *sorting[R]) compare(a, b R) int {
	c := s.orders[s.at].compare(a, b)
	if s.reversed && -bothWays < c && c < bothWays {
		return -c
	}
	return c
}

func (f *frame) sorted(l *paint.Line, name string) {
	if name != "" {
		l.Put(paint.Muted, " · by ").Put(paint.Text, name)
	}
}

func intentOrders() []order[*intentRow] {
	return []order[*intentRow]{
		{"urgency", true, compareIntents},
		{"age", true, func(a, b *intentRow) int {
			return cmp.Or(compareTimes(beganAt(a.Intent), beganAt(b.Intent)), a.Since.Compare(b.Since))
		}},
		{"total", true, compareTotals},
		{"product", false, func(a, b *intentRow) int { return compareKnown(a.Product, b.Product) }},
		{"merchant", false, func(a, b *intentRow) int { return compareKnown(a.Merchant, b.Merchant) }},
	}
}

// compareTotals puts the larger total first, whatever the currencies.
func compareTotals(a, b *intentRow) int {
	if a.Total == nil || b.Total == nil {
		return unknownLast(a.Total == nil, b.Total == nil)
	}
	return cmp.Compare(b.Total.Subunits, a.Total.Subunits)
}

// Sort changes to the order with a name, or to the next one if there is none with that
// name; with reverse it reverses the current order. It returns the name with its direction,
// "" for the default order.
func (p *Intents) Sort(name string, reverse bool) string {
	p.turn(name, reverse)
	for _, lane := range p.lanes.tables {
		lane.SetCompare(p.compare)
	}
	p.list.SetCompare(p.compareListed)
	p.stale = true
	return p.order
}

func shipmentOrders() []order[*shipmentRow] {
	return []order[*shipmentRow]{
		{"urgency", true, compareShipments},
		{"age", true, func(a, b *shipmentRow) int { return compareTimes(a.touched, b.touched) }},
		{"estimate", false, func(a, b *shipmentRow) int { return compareTimes(a.estimate(), b.estimate()) }},
		{"product", false, func(a, b *shipmentRow) int { return compareKnown(a.Product, b.Product) }},
		{"carrier", false, func(a, b *shipmentRow) int {
			first, _ := a.tracking()
			second, _ := b.tracking()
			return compareKnown(first, second)
		}},
	}
}

// bothWays is what a comparison returns instead of 1 if only one of the values is unknown:
// compare does not reverse it.
const bothWays = 2

// unknownLast compares two rows by whether their value is unknown.
func unknownLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return bothWays
	}
	return -bothWays
}

// compareKnown puts the lesser value first, and the zero value, which nobody knows, last.
func compareKnown[T cmp.Ordered](a, b T) int {
	var unknown T
	return cmp.Or(unknownLast(a == unknown, b == unknown), cmp.Compare(a, b))
}

// compareTimes puts the earlier time first, and the zero time last.
func compareTimes(a, b time.Time) int {
	return cmp.Or(unknownLast(a.IsZero(), b.IsZero()), a.Compare(b))
}

func eventOrders() []order[*eventRow] {
	return []order[*eventRow]{
		{"arrival", false, compareEvents},
		{"type", false, func(a, b *eventRow) int { return cmp.Compare(a.Type, b.Type) }},
		{"product", false, func(a, b *eventRow) int { return compareKnown(a.Product, b.Product) }},
		{"id", false, func(a, b *eventRow) int { return cmp.Compare(a.SourceID, b.SourceID) }},
		{"seq", false, func(a, b *eventRow) int { return cmp.Compare(a.Seq, b.Seq) }},
	}
}

func requestOrders() []order[*requestRow] {
	return []order[*requestRow]{
		{"time", false, compareRequests},
		{"latency", false, func(a, b *requestRow) int { return cmp.Compare(a.Latency, b.Latency) }},
		{"status", false, func(a, b *requestRow) int { return compareKnown(a.Status, b.Status) }},
		{"path", false, func(a, b *requestRow) int { return cmp.Compare(a.Path, b.Path) }},
		{"by", false, func(a, b *requestRow) int { return cmp.Compare(spender(&a.Exchange), spender(&b.Exchange)) }},
		{"class", false, func(a, b *requestRow) int { return cmp.Compare(a.Class, b.Class) }},
		{"attempt", false, func(a, b *requestRow) int { return cmp.Compare(a.Attempt, b.Attempt) }},
	}
}

func alertOrders() []order[*alertRow] {
	return []order[*alertRow]{
		{"time", true, compareAlerts},
		{"kind", false, func(a, b *alertRow) int { return cmp.Compare(a.Kind, b.Kind) }},
		{"text", false, func(a, b *alertRow) int { return cmp.Compare(a.Text, b.Text) }},
		{"id", false, func(a, b *alertRow) int { return compareKnown(a.Intent, b.Intent) }},
	}
}

// Sort is like [Intents.Sort], for the table on the screen.
func (p *Quota) Sort(name string, reverse bool) string {
	if p.Viewing() {
		p.stale = true
		p.spending.turn(name, reverse)
		return p.spending.order
	}
	p.turn(name, reverse)
	p.sortRows()
	p.stale = true
	return p.order
}

// Orders returns the names of the orders of the table on the screen.
func (p *Quota) Orders() []string {
	if p.Viewing() {
		return p.spending.Orders()
	}
	return p.sorting.Orders()
}

func (p *Quota) sortRows() { slices.SortStableFunc(p.rows, p.compare) }

// bucketOrders returns the orders of the buckets. A bucket without figures comes last.
func bucketOrders(look *Look) []order[quota.Bucket] {
	share := func(b *quota.Bucket) float64 { return float64(b.Left(look.Now)) / float64(max(b.Limit, 1)) }
	known := func(compare func(a, b *quota.Bucket) int) func(a, b quota.Bucket) int {
		return func(a, b quota.Bucket) int {
			return cmp.Or(unknownLast(unreported(&a), unreported(&b)), compare(&a, &b))
		}
	}
	rank := func(c quota.Class) int {
		if i := slices.Index(quotaClasses[:], c); i >= 0 {
			return i
		}
		return len(quotaClasses)
	}
	return []order[quota.Bucket]{
		{"class", false, func(a, b quota.Bucket) int { return cmp.Compare(rank(a.Class), rank(b.Class)) }},
		{"left", false, func(a, b quota.Bucket) int {
			return cmp.Or(unknownLast(a.Limit <= 0, b.Limit <= 0), cmp.Compare(share(&a), share(&b)))
		}},
		{"own", true, known(func(a, b *quota.Bucket) int { return cmp.Compare(b.Own, a.Own) })},
		{"others", true, known(func(a, b *quota.Bucket) int { return cmp.Compare(b.Others, a.Others) })},
		{"refused", true, known(func(a, b *quota.Bucket) int { return cmp.Compare(b.Rejected, a.Rejected) })},
	}
}
