package pane

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/delivery"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// keptDeliveries bounds the rows of the pane.
const keptDeliveries = 1000

// Deliveries is the tail of deliveries to endpoints, each with its target, attempts and
// last answer. A row keeps its place while it is tried again.
type Deliveries struct {
	listing[*deliveryRow]
	intentOf      func(source api.ID) (*account.Intent, bool) // the intent of an event's source
	waiting, dead int                                         // number of deliveries
	targets       []string                                    // as shown
	unverified    int                                         // number of targets that have not answered their challenge
}

type deliveryRow struct {
	*delivery.Delivery
	searchText
	at      string
	mark    sign.Sign // of its event
	product api.Text  // "" while it is not known
	changed time.Time
}

func (r *deliveryRow) figure(f figure, now time.Time) (float64, string, bool) {
	switch f {
	case age:
		return now.Sub(r.Since).Seconds(), "", true
	case latency:
		return float64(r.Took) / float64(time.Millisecond), "", r.Took > 0
	case count:
		return float64(r.Attempts), "", true
	}
	return 0, "", false
}

// NewDeliveries returns the pane. intentOf returns the intent to which an id belongs.
func NewDeliveries(look *Look, intentOf func(api.ID) (*account.Intent, bool)) *Deliveries {
	p := &Deliveries{intentOf: intentOf, listing: newListing(look, table.Config[*deliveryRow]{
		Key:   func(r *deliveryRow) string { return string(r.ID) },
		Home:  table.Bottom,
		Limit: keptDeliveries,
	}, func(r *deliveryRow) Subject { return Subject{Kind: OfDelivery, ID: r.ID} }, deliveryOrders(), targetColumn, attemptColumn, nextColumn)}
	var states []string
	for _, s := range delivery.States() {
		states = append(states, string(s))
	}
	p.fields = []Field{oneOf("state", states, p.states), inColumn("status", inState), inColumn("target", inPlace), inColumn("product", inName),
		inColumn("type", inMore), inColumn("id", inID), measures("attempts", count), measures("latency", latency), measures("age", age)}
	return p
}

func compareDeliveries(a, b *deliveryRow) int { return a.Since.Compare(b.Since) }

func deliveryOrders() []order[*deliveryRow] {
	return []order[*deliveryRow]{
		{"time", false, compareDeliveries},
		{"state", false, func(a, b *deliveryRow) int { return cmp.Compare(a.State, b.State) }},
		{"status", false, func(a, b *deliveryRow) int { return compareKnown(a.Status, b.Status) }},
		{"type", false, func(a, b *deliveryRow) int { return cmp.Compare(a.Type, b.Type) }},
		{"target", false, func(a, b *deliveryRow) int { return cmp.Compare(a.Target, b.Target) }},
		{"attempts", true, func(a, b *deliveryRow) int { return cmp.Compare(b.Attempts, a.Attempts) }},
		{"latency", true, func(a, b *deliveryRow) int {
			return cmp.Or(unknownLast(a.Took == 0, b.Took == 0), cmp.Compare(b.Took, a.Took))
		}},
		{"next", false, func(a, b *deliveryRow) int { return compareTimes(a.Next, b.Next) }},
	}
}

// ApplyDeliveries applies new and changed deliveries; first is true for the first ones.
func (p *Deliveries) ApplyDeliveries(changed []*delivery.Delivery, first bool) {
	rows := make([]*deliveryRow, 0, len(changed))
	for _, d := range changed {
		row := &deliveryRow{Delivery: d, at: d.Since.In(p.look.Location).Format("15:04:05.0"), mark: sign.Event(d.Type)}
		if old, ok := p.list.Get(string(d.ID)); ok {
			row.product = old.product
		}
		if !first {
			row.changed = p.look.Now
		}
		p.learn(row)
		row.find()
		rows = append(rows, row)
	}
	p.list.Upsert(rows...)
	p.count()
	p.stale = true
}

func (p *Deliveries) count() {
	p.waiting, p.dead, p.unverified = 0, 0, 0
	verified := map[api.Text]bool{}
	for _, row := range p.list.All() {
		switch row.State {
		case delivery.Waiting:
			p.waiting++
		case delivery.Dead:
			p.dead++
		}
		switch known, seen := verified[row.Target]; {
		case row.Type == api.VerificationChallenge: // the newest comes last
			verified[row.Target] = row.State == delivery.Delivered
		case !seen || known || row.State == delivery.Delivered: // nothing is sent before the challenge is answered
			verified[row.Target] = true
		}
	}
	p.targets = nil
	for target, ok := range verified {
		p.targets = append(p.targets, Shown(target))
		if !ok {
			p.unverified++
		}
	}
}

// Troubled returns the number of deliveries that wait or are dead.
func (p *Deliveries) Troubled() int { return p.waiting + p.dead }

// learn sets the product of an event's source if it is known by now.
func (p *Deliveries) learn(row *deliveryRow) (changed bool) {
	in, ok := p.intentOf(row.Source)
	if !ok || row.product == in.Product {
		return false
	}
	row.product = in.Product
	return true
}

// find sets the text by which a filter finds the row.
func (r *deliveryRow) find() {
	state := string(r.State)
	if r.Status > 0 {
		state += " " + strconv.Itoa(r.Status)
	}
	r.searchText = newSearchText(state, string(r.Target), string(r.product), string(r.Event)+" "+string(r.Source), worded(r.Type, r.mark)+" "+string(r.Error))
}

// Apply sets the names of the events' sources.
func (p *Deliveries) Apply(c *account.Changes, _ bool) {
	if len(c.Intents)+len(c.Shipments) == 0 {
		return
	}
	var named []*deliveryRow
	for _, row := range p.list.All() {
		if again := *row; p.learn(&again) {
			again.find()
			named = append(named, &again)
		}
	}
	if len(named) > 0 {
		p.list.Upsert(named...)
		p.stale = true
	}
}

// Forget keeps the rows: they are not part of the account's picture.
func (p *Deliveries) Forget() {}

// Find returns the kept delivery of an id.
func (p *Deliveries) Find(id api.ID) (*delivery.Delivery, bool) {
	row, ok := p.list.Get(string(id))
	if !ok {
		return nil, false
	}
	return row.Delivery, true
}

// Lines draws the pane.
func (p *Deliveries) Lines() []string {
	return p.drawn(p.top, func() { p.message(paint.Muted, "no deliveries yet", "they begin once an endpoint is registered") }, p.draw)
}

func (p *Deliveries) top() (l *paint.Line, right paint.Spans) {
	l = p.tabTitle(deliveriesTab, p.list.Total())
	if len(p.targets) > 1 && p.w >= 100 {
		l.Put(paint.Muted, "· "+wording.Counted(len(p.targets), "target", "targets"))
	}
	p.sorted(l, p.order)
	p.held(l, "")
	if p.unverified > 0 {
		right = append(right, paint.Span{Text: "  " + wording.Counted(p.unverified, "target", "targets") + " unverified", Style: paint.Bad})
	}
	if p.waiting > 0 {
		right = append(right, paint.Span{Text: "  " + wording.Count(p.waiting) + " waiting", Style: paint.Warning})
	}
	if p.dead > 0 {
		right = append(right, paint.Span{Text: "  " + wording.Count(p.dead) + " dead", Style: paint.Bad})
	}
	return l, right
}

func (p *Deliveries) draw(l *paint.Line, row *deliveryRow, under bool) {
	p.gutter(l, under, p.look.Opened == Subject{Kind: OfDelivery, ID: row.ID}, (p.list.Pinned() || row.Attempts > 1) && p.glows(row.changed))
	c := p.columns()
	m := sign.Delivery(row.State)
	l.Put(paint.Muted, row.at[:c.at]).Space(2).Put(m.Style, m.Glyph).Space(1)
	l.Fit(m.Style, m.Word, c.state)
	if !under {
		l.On(paint.Base)
	}
	l.Fit(paint.Text, row.mark.Word, c.kind-1).Space(1)
	name, style := named(row.product, row.Source)
	l.Fit(style, name, l.Left()-c.target-c.attempts-c.answer-c.took-c.next)
	l.Cell(2, paint.Muted, apart(Shown(row.Target), p.targets, c.target-2), c.target)
	p.outcome(l, row, c)
}

// outcome draws the attempts, the last answer and the time of the next attempt.
func (p *Deliveries) outcome(l *paint.Line, row *deliveryRow, c deliveryColumns) {
	attempts := ""
	if row.Attempts > 1 {
		attempts = "×" + strconv.Itoa(row.Attempts)
	}
	l.Right(paint.Warning, attempts, c.attempts)
	answer, style := lastAnswer(row.Delivery)
	if c.answer < paint.Width(answer)+2 && row.Status == 0 {
		answer = "–"
	}
	l.Cell(2, style, answer, c.answer).Right(paint.Muted, Latency(row.Took), c.took)
	next := ""
	if row.State == delivery.Waiting && !row.Next.IsZero() {
		next = "again " + wording.Until(row.Next.Sub(p.look.Now))
	}
	l.Cell(2, paint.Warning, next, c.next)
}

// lastAnswer returns the answer to the last attempt in a few words.
func lastAnswer(d *delivery.Delivery) (string, paint.Style) {
	switch {
	case d.State == delivery.Sending:
		return "…", paint.Muted
	case d.Attempts == 0:
		return "not sent", paint.Muted
	case d.Status == 0:
		return "no answer", paint.Bad
	case d.Status == http.StatusOK:
		return "200", paint.Good
	}
	return strconv.Itoa(d.Status), paint.Bad // only 200 counts (contract, Webhook receiver contract)
}

// Shown returns the address of a target without http://.
func Shown(target api.Text) string {
	return strings.TrimPrefix(string(target), "http://")
}

// deliveryColumns are the widths of the columns, with the blanks before them; 0 hides one.
type deliveryColumns struct{ at, state, kind, target, attempts, answer, took, next int }

func (p *Deliveries) columns() deliveryColumns {
	c := deliveryColumns{at: len("15:04"), kind: 19, answer: 6}
	switch {
	case p.w >= 150:
		c = deliveryColumns{at: len("15:04:05.0"), state: 11, kind: 21, target: 2 + 32, attempts: 5, answer: 11, took: 9, next: 14}
	case p.w >= 110:
		c = deliveryColumns{at: len("15:04:05"), state: 11, kind: 19, target: 2 + 22, attempts: 4, answer: 11, took: 8, next: 13}
	case p.w >= 72:
		c = deliveryColumns{at: len("15:04:05"), kind: 19, target: 2 + 16, attempts: 4, answer: 6, took: 8}
	}
	c.target, c.attempts, c.next = p.columnWidth(targetColumn, c.target), p.columnWidth(attemptColumn, c.attempts), p.columnWidth(nextColumn, c.next)
	return c
}
