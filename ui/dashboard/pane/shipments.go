package pane

import (
	"cmp"
	"maps"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// Shipments shows the parcels of completed orders, those in trouble first.
type Shipments struct {
	listing[*shipmentRow]
	counts map[api.ShipmentStatus]int
	read   time.Time // the last read
	ranked time.Time // when the ranks were last updated
	known  bool      // all shipments are known
	barred bool      // the API key may not read them
}

// shipmentRow is a shipment on the screen. A change of the shipment makes a new one.
type shipmentRow struct {
	*account.Shipment
	searchText           // the text by which a filter finds it
	rank       int       // by urgency, at the last update
	late       int       // days late, at the last update
	touched    time.Time // when anything last happened to it; zero if unknown
	changed    time.Time // when it last changed on the screen; zero: never
}

func (r *shipmentRow) figure(f figure, now time.Time) (float64, string, bool) {
	if f == lateness {
		return float64(r.late), "", r.late > 0
	}
	return now.Sub(r.touched).Seconds(), "", f == age && !r.touched.IsZero()
}

// tracking returns the carrier and the tracking number, "" if unknown.
func (r *shipmentRow) tracking() (carrier, number string) {
	if r.Latest == nil || r.Latest.Tracking == nil {
		return "", ""
	}
	return string(r.Latest.Tracking.Carrier), string(r.Latest.Tracking.Number)
}

// estimate returns when the parcel comes, or came; zero if unknown.
func (r *shipmentRow) estimate() time.Time {
	switch {
	case r.Latest == nil:
		return time.Time{}
	case r.Latest.Status == api.Delivered:
		return r.Latest.DeliveredAt
	case r.Latest.Tracking != nil:
		return r.Latest.Tracking.Estimated
	}
	return time.Time{}
}

func newShipmentRow(s *account.Shipment, now time.Time) *shipmentRow {
	row := &shipmentRow{Shipment: s}
	if in := s.Latest; in != nil {
		if row.touched = in.UpdatedAt; row.touched.IsZero() {
			row.touched = in.CreatedAt
		}
	}
	row.rank, row.late = row.rankAt(now), s.Late(now)
	carrier, number := row.tracking()
	row.searchText = newSearchText(worded(s.Status(), sign.Shipment(s.Status())), carrier, string(s.Product), string(s.ID), number+" "+string(s.IntentID))
	return row
}

// NewShipments returns the pane.
func NewShipments(look *Look) *Shipments {
	p := &Shipments{listing: newListing(look, table.Config[*shipmentRow]{Key: func(r *shipmentRow) string { return string(r.ID) }},
		func(r *shipmentRow) Subject { return Subject{Kind: OfShipment, ID: r.ID} }, shipmentOrders())}
	statuses := wordedAll(api.ShipmentStatuses(), sign.Shipment)
	p.fields = []Field{oneOf("status", statuses, p.states), oneOf("state", statuses, p.states), inColumn("carrier", inPlace),
		inColumn("product", inName), inColumn("id", inID), inColumn("tracking", inMore), measures("age", age), measures("late", lateness)}
	return p
}

func compareShipments(a, b *shipmentRow) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.late, a.late), b.touched.Compare(a.touched))
}

// rankAt ranks parcels in trouble first, late ones before all, then those about to arrive.
// An unlisted status may mean trouble. A cancellation is trouble for a day.
func (r *shipmentRow) rankAt(now time.Time) int {
	if r.Late(now) > 0 {
		return 0
	}
	switch r.Status() {
	case api.Delayed:
		return 1
	case api.Canceled:
		if r.touched.IsZero() || now.Sub(r.touched) <= troubleFor {
			return 2
		}
		return 8
	case api.OutForDelivery:
		return 4
	case api.Shipped:
		return 5
	case api.Ordered:
		return 6
	case "": // not read yet
		return 7
	case api.Delivered:
		return 9
	}
	return 3
}

// troubleFor is how long a canceled shipment stands above moving ones.
const troubleFor = 24 * time.Hour

// rankAnew updates the ranks once a minute: trouble begins and ends with time.
func (p *Shipments) rankAnew() {
	now := p.look.Now
	if now.Sub(p.ranked).Abs() < time.Minute {
		return
	}
	p.ranked = now
	var changed []*shipmentRow
	for _, row := range p.list.All() {
		if rank, late := row.rankAt(now), row.Late(now); rank != row.rank || late != row.late {
			moved := *row
			moved.rank, moved.late = rank, late
			changed = append(changed, &moved)
		}
	}
	p.stale = p.stale || len(changed) > 0
	p.list.Upsert(changed...)
}

// Apply applies changes.
func (p *Shipments) Apply(c *account.Changes, first bool) {
	for _, id := range c.GoneShipments {
		p.list.Remove(string(id))
		p.stale = true
	}
	rows := make([]*shipmentRow, len(c.Shipments))
	for i, s := range c.Shipments {
		old, ok := p.list.Get(string(s.ID))
		if ok && old.Shipment == s {
			rows[i] = old
			continue
		}
		rows[i] = newShipmentRow(s, p.look.Now)
		if s.ReadAt.After(p.read) {
			p.read = s.ReadAt
		}
		switch {
		case ok && sameProgress(old, rows[i]):
			rows[i].changed = old.changed
		case !first:
			rows[i].changed = p.look.Now
		}
	}
	if len(rows) > 0 || first || !maps.Equal(p.counts, c.Summary.Shipments) {
		p.stale = true
	}
	p.list.Upsert(rows...)
	p.rankAnew()
	p.counts = c.Summary.Shipments
	known, barred := c.Summary.ShipmentsKnown(), c.Summary.ShipmentList.State == account.ListForbidden
	if p.known != known || p.barred != barred {
		p.known, p.barred, p.stale = known, barred, true
	}
}

// sameProgress reports whether status and tracking number are equal.
func sameProgress(a, b *shipmentRow) bool {
	_, first := a.tracking()
	_, second := b.tracking()
	return a.Status() == b.Status() && first == second
}

// Lines draws the pane.
func (p *Shipments) Lines() []string { return p.drawn(p.top, p.nothing, p.draw) }

const mayNotRead = "the API key may not read shipments"

// nothing says why there are no rows.
func (p *Shipments) nothing() {
	if p.barred {
		p.message(paint.Warning, mayNotRead, "give it the scope, then press "+p.look.Keys.Refresh)
		return
	}
	if !p.known {
		p.unlessWaiting("no shipments are known yet")
		return
	}
	p.unlessWaiting("no shipments yet: they follow completed orders")
}

func (p *Shipments) top() (l *paint.Line, right paint.Spans) {
	l = p.title("SHIPMENTS", -1)
	l.Space(1).Put(paint.Text, counted(p.list.Total(), p.known))
	l.Put(paint.Muted, p.freshness("read", p.read))
	if p.barred && p.list.Total() > 0 {
		l.Put(paint.Warning, " · "+mayNotRead)
	}
	p.sorted(l, p.order)
	for _, s := range api.ShipmentStatuses() {
		if n := p.counts[s]; n > 0 {
			m := sign.Shipment(s)
			right = append(right, paint.Span{Text: "  " + m.Glyph, Style: m.Style}, paint.Span{Text: " " + wording.Count(n), Style: paint.Muted})
		}
	}
	return l, right
}

func (p *Shipments) draw(l *paint.Line, row *shipmentRow, under bool) {
	p.gutter(l, under, p.look.Opened == Subject{Kind: OfShipment, ID: row.ID}, p.glows(row.changed))
	m := sign.Shipment(row.Status())
	word := 20
	if p.w < 60 {
		word = 2
		l.Fit(m.Style, m.Glyph, word)
	} else {
		l.Fit(m.Style, m.Glyph+" "+m.Word, word-1).Space(1)
	}
	if !under {
		l.On(paint.Base) // only the status glows
	}
	estimate, tracking := 9, 0
	if p.w >= leastLateness {
		estimate = 13
	}
	if p.w >= 48 {
		tracking = min(p.w-word-estimate-24, 36)
	}
	id := 0
	if p.w >= roomyShipments {
		id = wholeID + 1
	}
	name, style := named(row.Product, row.ID)
	l.Fit(style, name, p.w-1-word-id-tracking-estimate-1)
	l.Cell(2, paint.Muted, string(row.ID), id)
	if tracking > 8 {
		p.tracking(l.Space(1), row, tracking-1)
	}
	if estimate > 0 {
		text, style := p.estimate(row)
		l.Space(1).Right(style, text, l.Left())
	}
}

// leastCarrier is the least width of a carrier: the number is more important.
const leastCarrier = 3

func (p *Shipments) tracking(l *paint.Line, row *shipmentRow, w int) {
	name, number := row.tracking()
	if number == "" {
		text := "no tracking yet"
		if row.Status().Terminal() || row.Latest == nil {
			text = "" // there will be none, or no read has said so
		}
		l.Fit(paint.Muted, text, w)
		return
	}
	carrier := min(paint.Width(name), w-paint.Width(number)-1)
	if carrier < leastCarrier {
		l.Fit(paint.Muted, number, w)
		return
	}
	l.Fit(paint.Muted, name, carrier).Space(1).Fit(paint.Muted, number, w-carrier-1)
}

// roomyShipments is the least width of a pane with room for ids.
const roomyShipments = 150

// leastLateness is the least width of a pane with room for "12 days late".
const leastLateness = 96

// estimate writes the day when the parcel comes, or came, or how late it is.
func (p *Shipments) estimate(row *shipmentRow) (string, paint.Style) {
	if row.Status() == api.Canceled {
		return "", paint.Muted
	}
	if row.late > 0 && p.w >= leastLateness {
		return wording.Late(row.late), paint.Warning
	} else if row.late > 0 {
		return wording.Count(row.late) + "d late", paint.Warning
	}
	day := p.look.estimated(row.estimate())
	if row.Status() == api.Delivered || day == "" {
		return day, paint.Muted
	}
	return day, paint.Text
}

// estimated is [Look.day] for an estimate.
func (l *Look) estimated(t time.Time) string { return l.day(account.Estimate(t, l.Location)) }

// day writes a date: today, tomorrow, or such as "Nov 24".
func (l *Look) day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	y, m, d := t.Date()
	ny, nm, nd := l.Now.In(l.Location).Date()
	switch int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(time.Date(ny, nm, nd, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour)) {
	case 0:
		return "today"
	case 1:
		return "tomorrow"
	}
	return t.Format("Jan _2")
}
