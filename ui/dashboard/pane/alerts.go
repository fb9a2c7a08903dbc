package pane

import (
	"cmp"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

const kindWidth = 10 // of the longest kind of alert

// Alerts lists the alerts: unknown outcomes of confirms first, then the newest first.
type Alerts struct {
	listing[*alertRow]
	off      func(account.Alert) (attention.Off, bool) // how an alert is acknowledged or muted, if it is
	standing []account.Alert
	since    map[string]time.Time // when each standing alert came; zero if it was in the first picture
}

type alertRow struct {
	account.Alert
	searchText
	key     string
	changed time.Time
	isOff   bool          // it is acknowledged or muted
	off     attention.Off // how, if it is
}

// same reports whether two rows look the same.
func (r *alertRow) same(as *alertRow) bool {
	return r.Alert == as.Alert && r.changed == as.changed && r.isOff == as.isOff && r.off == as.off
}

func (r *alertRow) figure(f figure, now time.Time) (float64, string, bool) {
	return now.Sub(r.Since).Seconds(), "", f == age
}

// NewAlerts returns the pane. off returns how an alert is acknowledged or muted, if it is;
// nil: none ever is.
func NewAlerts(look *Look, off func(account.Alert) (attention.Off, bool)) *Alerts {
	if off == nil {
		off = func(account.Alert) (none attention.Off, ok bool) { return none, false }
	}
	p := &Alerts{off: off,
		listing: newListing(look, table.Config[*alertRow]{Key: func(r *alertRow) string { return r.key }}, alertSubject, alertOrders())}
	var kinds []string
	for _, kind := range account.AlertKinds() {
		kinds = append(kinds, string(kind))
	}
	p.fields = []Field{oneOf("kind", kinds, p.states), inColumn("id", inID), measures("age", age)}
	return p
}

func alertSubject(r *alertRow) Subject {
	switch {
	case r.Order != "":
		return Subject{Kind: OfOrder, Reference: r.Order}
	case r.Intent == "":
		return Subject{}
	}
	return Subject{Kind: OfIntent, ID: r.Intent}
}

// below is 0 for an alert above all others, and 1 for the others.
func (r *alertRow) below() int {
	if r.Kind == account.AlertConfirm {
		return 0
	}
	return 1
}

func compareAlerts(a, b *alertRow) int {
	return cmp.Or(cmp.Compare(a.below(), b.below()), b.Since.Compare(a.Since), cmp.Compare(a.Kind, b.Kind))
}

// alertKey identifies an alert while it exists: its text may change.
func alertKey(a *account.Alert) string {
	return string(a.Kind) + " " + string(a.Intent) + " " + a.Cause + " " + strconv.FormatInt(a.Since.UnixNano(), 36)
}

// Apply applies the current alerts.
func (p *Alerts) Apply(c *account.Changes, first bool) {
	since := make(map[string]time.Time, len(c.Summary.Alerts))
	for i := range c.Summary.Alerts {
		key := alertKey(&c.Summary.Alerts[i])
		at, known := p.since[key]
		if !known && !first {
			at = p.look.Now
		}
		since[key] = at
	}
	p.standing, p.since = c.Summary.Alerts, since
	p.Arrange()
}

// Arrange updates the rows, also after alerts were acknowledged or muted.
func (p *Alerts) Arrange() {
	shown := make(map[string]bool, len(p.standing))
	var changed []*alertRow
	for _, a := range p.standing {
		row := p.rowOf(a)
		shown[row.key] = true
		if old, ok := p.list.Get(row.key); !ok || !old.same(row) {
			changed = append(changed, row)
		}
	}
	p.stale = p.stale || len(changed) > 0
	p.list.Upsert(changed...)
	var over []string
	for _, row := range p.list.All() {
		if !shown[row.key] {
			over = append(over, row.key)
		}
	}
	for _, key := range over {
		p.list.Remove(key)
		p.stale = true
	}
}

func (p *Alerts) rowOf(a account.Alert) *alertRow {
	row := &alertRow{Alert: a, key: alertKey(&a)}
	row.Text = string(api.Scrub(a.Text))
	row.changed = p.since[row.key]
	row.searchText = newSearchText(string(a.Kind), "", row.Text, string(a.Intent), "")
	row.off, row.isOff = p.off(a)
	return row
}

// Chosen returns the alert under the cursor; false if there is none.
func (p *Alerts) Chosen() (account.Alert, bool) {
	row, ok := p.list.Cursor()
	if !ok {
		return account.Alert{}, false
	}
	return row.Alert, true
}

// Lines draws the pane.
func (p *Alerts) Lines() []string {
	return p.drawn(p.top, func() { p.unlessWaiting("all is well: no alerts") }, p.draw)
}

func (p *Alerts) top() (l *paint.Line, right paint.Spans) {
	l = p.tabTitle("ALERTS", len(p.standing))
	p.sorted(l, p.order)
	return l, nil
}

// AlertText writes what an alert says, in w cells if it ends with a time: that stays
// whole, and the middle gives way.
func AlertText(a *account.Alert, now time.Time, where *time.Location, w int) string {
	if a.Due.IsZero() && a.Kind != account.AlertAwaiting && a.Kind != account.AlertStuck {
		return a.Text
	}
	return paint.Shorten(a.Text+wording.Due(a, now, where), w)
}

func (p *Alerts) draw(l *paint.Line, row *alertRow, under bool) {
	p.gutter(l, under, false, p.glows(row.changed))
	glyph, sign, style := "⚑", paint.Warning, paint.Text
	if row.isOff {
		glyph, sign, style = "·", paint.Muted, paint.Muted
	}
	l.Put(sign, glyph)
	if p.w >= 60 { // otherwise the text must do
		l.Space(1).Fit(sign, string(row.Kind), kindWidth)
	}
	if !under {
		l.On(paint.Base)
	}
	id, age := 0, ageWidth+1
	switch {
	case p.w >= 180:
		id = wholeID + 2
	case p.w >= 140:
		id = shortID // the text matters more
	}
	said := ""
	if row.isOff {
		said = "  " + p.offWords(row)
	}
	room := l.Space(1).Left() - id - age - 2 - paint.Width(said)
	l.Fit(style, AlertText(&row.Alert, p.look.Now, p.look.Location, room), room).Put(paint.Muted, said).Space(2)
	l.Cell(2, paint.Muted, string(row.Intent), id)
	if age > 0 {
		l.Space(1).Right(paint.Muted, p.look.age(row.Since), ageWidth)
	}
}

// offWords says how a row is acknowledged or muted.
func (p *Alerts) offWords(row *alertRow) string {
	if row.off.Until.IsZero() {
		return "acknowledged"
	}
	return "muted for " + wording.Age(row.off.Until.Sub(p.look.Now))
}
