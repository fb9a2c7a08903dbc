package pane

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Failures groups the failed intents by reason and by merchant, which shows whether a shop or
// the service is at fault. It is a view of the rows in the intents pane.
type Failures struct {
	frame
	intents *Intents
	span    int       // index in failureSpans
	counted time.Time // when the groups were last counted
	changed bool      // an intent has changed since
	known   bool      // all intents are known
	failed  int       // number in the span
	undated int       // number that failed at an unknown time, and so are in no span
	lost    account.Purse
	groups  [sides]picked[*failureGroup]
	side    int        // the side with the cursor
	most    [sides]int // the largest count of a group on each side
	sorting[*failureGroup]
}

// The sides of the view.
const (
	byReason = iota
	byMerchant
	sides
)

// failureGroup holds the intents that failed for one reason, or of one merchant.
type failureGroup struct {
	name   string // as shown
	filter string // a filter that finds its intents; "": there is none
	n      int
	last   time.Time // when the last of them failed; zero if unknown
	lost   account.Purse
	rows   []*intentRow // in the order of their lane
}

var failureSpans = [...]struct {
	name  string
	age   string // for a filter; "": any
	shown time.Duration
}{{"last 24h", "24h", 24 * time.Hour}, {"all kept", "", 0}, {"last 60m", "60m", time.Hour}}

// NewFailures returns the view of the intents in a pane.
func NewFailures(look *Look, intents *Intents) *Failures {
	p := &Failures{frame: newFrame(look), intents: intents, changed: true, sorting: by(failureOrders())}
	for side := range p.groups {
		p.groups[side].name = func(g *failureGroup) string { return g.name }
	}
	return p
}

func failureOrders() []order[*failureGroup] {
	return []order[*failureGroup]{
		{"failed", true, func(a, b *failureGroup) int { return cmp.Compare(b.n, a.n) }},
		{"last", true, func(a, b *failureGroup) int { return b.last.Compare(a.last) }},
		{"value", true, func(a, b *failureGroup) int { return cmp.Compare(largest(&b.lost), largest(&a.lost)) }},
		{"name", false, func(a, b *failureGroup) int { return cmp.Compare(a.name, b.name) }},
	}
}

// largest returns the largest sum, whatever its currency.
func largest(p *account.Purse) (subunits int64) {
	for _, sum := range p.Amounts {
		subunits = max(subunits, sum.Subunits)
	}
	return subunits
}

// Apply notes that the groups must be counted again.
func (p *Failures) Apply(c *account.Changes, _ bool) {
	if c.Whole || len(c.Intents)+len(c.GoneIntents) > 0 {
		p.changed, p.stale = true, true
	}
	if known := c.Summary.IntentsKnown(); p.known != known {
		p.known, p.stale = known, true
	}
}

// NextSpan shows the next span of time.
func (p *Failures) NextSpan() {
	p.span = (p.span + 1) % len(failureSpans)
	p.changed, p.stale = true, true
}

// Sort is like [Intents.Sort].
func (p *Failures) Sort(name string, reverse bool) string {
	p.turn(name, reverse)
	p.changed, p.stale = true, true
	return p.order
}

// count groups the failed intents again if something has changed or time has passed. It
// runs only for drawing and keys: off the screen it costs nothing.
func (p *Failures) count() {
	if !p.changed && p.counted.Equal(p.look.Now) {
		return
	}
	p.changed, p.counted, p.failed, p.undated, p.lost = false, p.look.Now, 0, 0, account.Purse{}
	var groups [sides]map[string]*failureGroup
	for side := range groups {
		groups[side] = map[string]*failureGroup{}
	}
	for _, row := range p.intents.lanes.tables[laneFailed].All() {
		if span := failureSpans[p.span].shown; span > 0 {
			if !row.Since.IsZero() && p.look.Now.Sub(row.Since) >= span {
				continue
			}
			if p.look.Now.Sub(row.earliest()) >= span {
				p.undated++
				continue
			}
		}
		p.failed++
		p.lost.Add(row.Total)
		reason, merchant := wording.Failure(row.Failure), cmp.Or(string(row.Merchant), "merchant unknown")
		p.add(groups[byReason], reason, ByReason(row.Intent), row)
		p.add(groups[byMerchant], merchant, ByMerchant(row.Intent), row)
	}
	for side := range groups {
		p.groups[side].rows = slices.Collect(maps.Values(groups[side]))
		p.most[side] = 0
		for _, g := range groups[side] {
			p.most[side] = max(p.most[side], g.n)
		}
		slices.SortFunc(p.groups[side].rows, func(a, b *failureGroup) int { return cmp.Or(p.compare(a, b), cmp.Compare(a.name, b.name)) })
	}
}

func (p *Failures) add(to map[string]*failureGroup, name, filter string, row *intentRow) {
	g := to[name]
	if g == nil {
		g = &failureGroup{name: name, filter: filter}
		to[name] = g
	}
	g.n++
	g.rows = append(g.rows, row)
	g.lost.Add(row.Total)
	if at := row.Entered(); at.After(g.last) {
		g.last = at
	}
}

// ByMerchant returns a filter for the intents of the same merchant; "" if that is unknown.
func ByMerchant(in *account.Intent) string {
	if in.Merchant == "" {
		return ""
	}
	return "merchant=" + quoted(string(in.Merchant))
}

// ByReason returns a filter for the intents that failed for the same reason; "" if in has
// not failed.
func ByReason(in *account.Intent) string {
	if in.State != api.Failed {
		return ""
	}
	return "reason=" + quoted(wording.Failure(in.Failure))
}

// group returns the group under the cursor; nil if there is none.
func (p *Failures) group() *failureGroup {
	p.count()
	return p.under(p.side)
}

// under is like group, for the cursor of either side.
func (p *Failures) under(side int) *failureGroup {
	list := &p.groups[side]
	if len(list.rows) == 0 {
		return nil
	}
	return list.rows[list.cursor()]
}

// Alike returns a filter for all intents of the merchant under the cursor, or for all that
// ever failed for the reason under it; "" if there is none.
func (p *Failures) Alike() string {
	if g := p.group(); g != nil {
		return g.filter
	}
	return ""
}

// RowFilter returns a filter for exactly the intents of the group under the cursor, or why
// there is none.
func (p *Failures) RowFilter() (filter, why string) {
	g := p.group()
	switch {
	case g == nil:
		return "", "nothing under the cursor"
	case g.filter == "":
		return "", "the merchant of these is not known, so no filter finds them"
	}
	filter = g.filter
	if p.side == byMerchant {
		filter += " state:failed"
	}
	if age := failureSpans[p.span].age; age != "" {
		filter += " age<" + age
	}
	return filter, ""
}

// Hold keeps the cursor on its group.
func (p *Failures) Hold(bool) { p.groups[p.side].hold() }

// Move moves the cursor. Left and right change the side; if the sides are above each other,
// the cursor moves from one to the other.
func (p *Failures) Move(s Step) {
	p.count()
	p.stale = true
	list := &p.groups[p.side]
	n := len(list.rows)
	at := list.cursor() + s.by(list.page, n)
	switch {
	case n == 0:
	case s == Left:
		p.side = byReason
	case s == Right:
		p.side = byMerchant
	case p.beside(), s == First, s == Last:
		list.put(at)
	case at < 0 && p.side == byMerchant:
		p.side = byReason
		p.groups[byReason].put(len(p.groups[byReason].rows) - 1)
	case at >= n && p.side == byReason:
		p.side = byMerchant
		p.groups[byMerchant].put(0)
	default:
		list.put(at)
	}
}

// Click puts the cursor on a group.
func (p *Failures) Click(x, y int) (row bool) {
	for side := range p.groups {
		if p.beside() && (x >= p.w/2) != (side == byMerchant) {
			continue
		}
		if p.groups[side].click(y) {
			p.side, p.stale = side, true
		}
	}
	return false
}

// Wheel moves the cursor.
func (p *Failures) Wheel(_, _, delta int) {
	step := Down
	if delta < 0 {
		step = Up
	}
	for range max(delta, -delta) {
		p.Move(step)
	}
}
