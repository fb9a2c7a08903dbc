package pane

import (
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// Alerts lists what a person should know now, the newest first.
type Alerts struct {
	listing[*alertRow]
}

type alertRow struct {
	account.Alert
	needle
	key     string
	changed time.Time
}

func (r *alertRow) figure(f figure, now time.Time) (float64, string, bool) {
	return now.Sub(r.Since).Seconds(), "", f == age
}

// NewAlerts makes the pane.
func NewAlerts(look *Look) *Alerts {
	p := &Alerts{listing[*alertRow]{frame: newFrame(look, idColumn, ageColumn), sorting: by(alertOrders()), about: alertSubject, list: table.New(table.Config[*alertRow]{
		Key:     func(r *alertRow) string { return r.key },
		Compare: compareAlerts,
		Match:   matchRow[*alertRow],
	})}}
	var kinds []string
	for _, kind := range account.AlertKinds() {
		kinds = append(kinds, string(kind))
	}
	p.fields = []Field{oneOf("kind", kinds, p.states), inColumn("id", inID), measures("age", age)}
	return p
}

func alertSubject(r *alertRow) Subject {
	if r.Intent == "" {
		return Subject{}
	}
	return Subject{OfIntent, r.Intent}
}

func compareAlerts(a, b *alertRow) int { return b.Since.Compare(a.Since) }

// alertKey is the identity of an alert while it stands: its words may change.
func alertKey(a *account.Alert) string {
	key := string(a.Kind) + " " + string(a.Intent) + " " + strconv.FormatInt(a.Since.UnixNano(), 36)
	if a.Kind == account.AlertQuota {
		key += " " + a.Text // one a bucket
	}
	return key
}

// Apply takes over the alerts that stand.
func (p *Alerts) Apply(c *account.Changes, first bool) {
	standing := make(map[string]bool, len(c.Summary.Alerts))
	for _, a := range c.Summary.Alerts {
		row := &alertRow{Alert: a, key: alertKey(&a)}
		row.Text = string(api.Scrub(a.Text))
		standing[row.key] = true
		old, ok := p.list.Get(row.key)
		switch {
		case ok && old.Text == row.Text:
			continue
		case ok:
			row.changed = old.changed
		case !first:
			row.changed = p.look.Now
		}
		row.needle = newNeedle(string(a.Kind), "", row.Text, string(a.Intent), "")
		p.list.Upsert(row)
		p.stale = true
	}
	var over []string
	for _, row := range p.list.All() {
		if !standing[row.key] {
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

func (p *Alerts) top() {
	l := p.tabTitle("ALERTS", p.list.Total())
	p.sorted(l, p.order)
	if !p.hits(l) {
		p.fill(l, l.Left())
	}
	p.push(l)
}

// Due ends the text of an alert with the moment at which it comes about, if there
// is one. A near one counts down.
func Due(a *account.Alert, now time.Time, where *time.Location) string {
	switch {
	case a.Due.IsZero():
		return ""
	case a.Kind == account.AlertDay:
		return " by " + wording.Moment(a.Due, now, where)
	}
	return " within " + Age(max(a.Due.Sub(now), 0))
}

func (p *Alerts) draw(l *paint.Line, row *alertRow, under bool) {
	p.gutter(l, under, false, p.glows(row.changed))
	l.Put(paint.Warning, "⚑")
	if p.w >= 60 { // the text says it too
		l.Space(1).Fit(paint.Warning, string(row.Kind), 9)
	}
	if !under {
		l.On(paint.Base)
	}
	id := 0
	if p.w >= 150 && p.has(idColumn) {
		id = 40
	}
	text := row.Text + Due(&row.Alert, p.look.Now, p.look.Location)
	age := ageWidth + 1
	if !p.has(ageColumn) {
		age = 0
	}
	l.Space(1).Fit(paint.Text, text, l.Left()-id-age-1)
	if id > 0 {
		l.Space(2).Fit(paint.Muted, string(row.Intent), id-2)
	}
	if age > 0 {
		l.Space(1).Right(paint.Muted, p.look.age(row.Since), ageWidth)
	}
}
