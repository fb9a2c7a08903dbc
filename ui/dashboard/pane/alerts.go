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

// Alerts lists what a person should know now, the newest first. Many of a kind are
// folded into one row.
type Alerts struct {
	listing[*alertRow]
	off      func(account.Alert) (attention.Off, bool) // how an alert is put off, if it is
	standing []account.Alert
	since    map[string]time.Time // when what is said of an alert changed; zero of what was there at first
	texts    map[string]string    // what was said of it
	unfolded map[fold]bool
}

type alertRow struct {
	account.Alert
	needle
	key     string
	changed time.Time
	fold    fold
	count   int       // of the alerts that the row stands for; 0: it is an alert
	last    time.Time // of a fold: the latest Due
	newest  time.Time // of the fold that it is or belongs to, else its own Since: where it stands
	member  bool      // its fold stands above it
}

// same reports whether a row shows what another one does, at its place.
func (r *alertRow) same(as *alertRow) bool {
	return r.Alert == as.Alert && r.changed == as.changed && r.fold == as.fold && r.count == as.count && r.last == as.last &&
		r.newest == as.newest && r.member == as.member
}

func (r *alertRow) figure(f figure, now time.Time) (float64, string, bool) {
	return now.Sub(r.Since).Seconds(), "", f == age
}

// NewAlerts makes the pane. off tells how an alert is put off, if it is; nil: none
// ever is.
func NewAlerts(look *Look, off func(account.Alert) (attention.Off, bool)) *Alerts {
	if off == nil {
		off = func(account.Alert) (none attention.Off, is bool) { return none, false }
	}
	p := &Alerts{off: off, since: map[string]time.Time{}, texts: map[string]string{}, unfolded: map[fold]bool{},
		listing: newListing(look, table.Config[*alertRow]{Key: func(r *alertRow) string { return r.key }}, alertSubject, alertOrders(), idColumn, ageColumn)}
	var kinds []string
	for _, kind := range account.AlertKinds() {
		kinds = append(kinds, string(kind))
	}
	p.fields = []Field{oneOf("kind", kinds, p.states), inColumn("id", inID), measures("age", age)}
	return p
}

func alertSubject(r *alertRow) Subject {
	switch {
	case r.count > 0:
		return Subject{}
	case r.Order != "":
		return Subject{Kind: OfOrder, Reference: r.Order}
	case r.Intent == "":
		return Subject{}
	}
	return Subject{Kind: OfIntent, ID: r.Intent}
}

func compareAlerts(a, b *alertRow) int {
	return cmp.Or(b.newest.Compare(a.newest), compareFolds(a.fold, b.fold), cmp.Compare(b.count, a.count), b.Since.Compare(a.Since))
}

// alertKey is the identity of an alert while it stands: its words may change.
func alertKey(a *account.Alert) string {
	return string(a.Kind) + " " + string(a.Intent) + " " + a.Cause + " " + strconv.FormatInt(a.Since.UnixNano(), 36)
}

// Apply takes over the alerts that stand.
func (p *Alerts) Apply(c *account.Changes, first bool) {
	p.standing = c.Summary.Alerts
	over := len(p.texts) > 0
	for i := range p.standing {
		a := &p.standing[i]
		key, text := alertKey(a), string(api.Scrub(a.Text))
		old, ok := p.texts[key]
		if ok && old == text {
			continue
		}
		p.texts[key] = text
		if !ok && !first {
			p.since[key] = p.look.Now
		}
	}
	if over && len(p.texts) > len(p.standing) {
		p.forgetOver()
	}
	p.Arrange()
}

// forgetOver drops what is known of alerts that no longer stand.
func (p *Alerts) forgetOver() {
	standing := make(map[string]bool, len(p.standing))
	for i := range p.standing {
		standing[alertKey(&p.standing[i])] = true
	}
	for key := range p.texts {
		if !standing[key] {
			delete(p.texts, key)
			delete(p.since, key)
		}
	}
}

// Arrange puts the alerts into rows anew, after some of them were put off or came
// back. While the pane has the focus the cursor stays on its alert: a key that puts
// one off must not meet another that has just come.
func (p *Alerts) Arrange() {
	if row, ok := p.list.Cursor(); ok && p.focused {
		p.list.Select(row.key)
	}
	rows := p.rowsOf(p.standing)
	shown := make(map[string]bool, len(rows))
	for _, row := range rows {
		shown[row.key] = true
		old, ok := p.list.Get(row.key)
		if ok && old.same(row) {
			continue
		}
		p.list.Upsert(row)
		p.stale = true
	}
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

// Lines draws the pane.
func (p *Alerts) Lines() []string {
	return p.drawn(p.top, func() { p.message(paint.Muted, "all is well: no alerts", "") }, p.draw)
}

func (p *Alerts) top() (l *paint.Line, right paint.Spans) {
	l = p.tabTitle("ALERTS", len(p.standing))
	p.sorted(l, p.order)
	return l, nil
}

// Due ends the text of an alert with the moment at which it comes about, if there
// is one. A near one counts down.
func Due(a *account.Alert, now time.Time, where *time.Location) string {
	switch {
	case a.Due.IsZero():
		return ""
	case a.Kind == account.AlertDay:
		return " by " + wording.Moment(a.Due, now, where)
	case a.Kind == account.AlertExpiring && !a.Due.After(now):
		return " (its confirm window has closed)"
	}
	return " within " + Age(max(a.Due.Sub(now), 0))
}

func (p *Alerts) draw(l *paint.Line, row *alertRow, under bool) {
	p.gutter(l, under, false, p.glows(row.changed))
	glyph, sign, style := "⚑", paint.Warning, paint.Text
	if row.fold.off {
		glyph, sign, style = "·", paint.Muted, paint.Muted
	}
	if row.member {
		l.Space(2)
	}
	l.Put(sign, glyph)
	if p.w >= 60 { // the text says it too
		l.Space(1).Fit(sign, string(row.Kind), 9)
	}
	if !under {
		l.On(paint.Base)
	}
	id := 0
	if p.w >= 150 && p.has(idColumn) {
		id = 40
	}
	age := ageWidth + 1
	if !p.has(ageColumn) {
		age = 0
	}
	said := ""
	if row.fold.off {
		said = "  " + p.offWords(row)
	}
	l.Space(1).Fit(style, p.text(row), l.Left()-id-age-1-paint.Width(said)).Put(paint.Muted, said)
	if id > 0 {
		l.Space(2).Fit(paint.Muted, string(row.Intent), id-2)
	}
	if age > 0 {
		l.Space(1).Right(paint.Muted, p.look.age(row.Since), ageWidth)
	}
}

// offWords say how a row is put off.
func (p *Alerts) offWords(row *alertRow) string {
	off, _ := p.off(row.Alert)
	switch {
	case row.count > 0:
		return "put off"
	case off.Until.IsZero():
		return "acknowledged"
	}
	return "muted " + Age(off.Until.Sub(p.look.Now))
}
