package pane

import (
	"slices"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// Quota shows what is left of the account's quota and who spends it: a gauge for each
// bucket, and two estimates that no header reports. The bar shows what is used, the figure
// beside it what is left.
type Quota struct {
	frame
	rows   []quota.Bucket       // at least one for each class of the contract
	called map[quota.Class]bool // classes that were called: whether there was an answer
	day    account.DayCount
	agents account.AgentCount
	known  bool // all intents are known
	offset int
	sorting[quota.Bucket]
	spending spending
}

// NewQuota returns the pane.
func NewQuota(look *Look) *Quota {
	return &Quota{frame: newFrame(look), sorting: by(bucketOrders(look)), rows: everyClass(nil), called: map[quota.Class]bool{}, spending: newSpending(look)}
}

// Apply applies the summary. It is drawn with the next second: headers are no finer.
func (p *Quota) Apply(c *account.Changes, first bool) {
	before := len(p.rows)
	p.rows, p.day, p.agents, p.known = everyClass(c.Summary.Quota), c.Summary.Day, c.Summary.Agents, c.Summary.IntentsKnown()
	p.spending.apply(&c.Summary, p.rows)
	p.sortRows()
	for _, r := range c.Requests {
		p.called[r.Class] = p.called[r.Class] || r.Status > 0
	}
	p.stale = p.stale || first || len(p.rows) != before
}

// quotaClasses are the classes of the contract.
var quotaClasses = [...]quota.Class{quota.Reads, quota.Mutations, quota.Lookup}

// everyClass adds an unreported bucket for each class without one: nothing moves when it is
// first called. It leaves out the day's intents and the agents, which have rows of their
// own.
func everyClass(known []quota.Bucket) []quota.Bucket {
	known = slices.DeleteFunc(slices.Clone(known), func(b quota.Bucket) bool { return account.LimitOf(&b) != account.LimitName(b.Class) })
	rows := make([]quota.Bucket, 0, len(known)+3)
	for _, class := range quotaClasses {
		before := len(rows)
		for _, b := range known {
			if b.Class == class {
				rows = append(rows, b)
			}
		}
		if len(rows) == before {
			rows = append(rows, quota.Bucket{Class: class})
		}
	}
	for _, b := range known {
		if !slices.Contains(quotaClasses[:], b.Class) {
			rows = append(rows, b)
		}
	}
	return rows
}

func unreported(b *quota.Bucket) bool { return b.Limit <= 0 && b.ObservedAt.IsZero() }

// Move moves the cursor among the spenders. If they are not shown, it scrolls the buckets.
func (p *Quota) Move(s Step) {
	if p.Viewing() {
		p.spending.move(s)
		p.stale = true
		return
	}
	p.Wheel(0, 0, s.by(p.h, len(p.rows)))
}

// Hold keeps the cursor on its spender.
func (p *Quota) Hold(bool) { p.spending.hold() }

// Click puts the cursor on a spender.
func (p *Quota) Click(_, y int) (row bool) {
	p.stale = p.Viewing() && p.spending.click(y) || p.stale
	return false
}

// Wheel scrolls.
func (p *Quota) Wheel(_, _, delta int) {
	if p.Viewing() {
		p.spending.put(p.spending.cursor() + delta)
		p.stale = true
		return
	}
	p.offset = max(p.offset+delta, 0) // draw bounds it
	p.stale = true
}

// Lines draws the pane.
func (p *Quota) Lines() []string {
	return p.render(func() {
		if p.collapsed() {
			p.push(p.strip())
			return
		}
		c := p.columns()
		p.top(c)
		p.rule()
		p.draw(c)
	})
}

func (p *Quota) draw(c quotaColumns) {
	p.offset = min(p.offset, max(p.gauges()-(p.h-p.head()), 0))
	for i := p.offset; i < len(p.rows); i++ {
		p.bucket(&p.rows[i], c)
	}
	if !p.Viewing() && p.h-len(p.lines) > p.gauges()-len(p.rows) {
		p.push(p.start())
	}
	p.estimates(c)
	if p.Viewing() {
		p.view()
		return
	}
	p.histories(c)
}

// shortGauge is the width that a gauge keeps beside long names.
const shortGauge = 8

// quotaColumns are the widths of the columns; 0 hides one.
type quotaColumns struct{ name, gauge, left, reset, others, spark int }

func (p *Quota) columns() quotaColumns {
	c := quotaColumns{name: 11, left: 8, reset: 12}
	for i := range p.rows {
		c.left = max(c.left, len(ratio(p.rows[i].Limit, p.rows[i].Limit))+1)
	}
	if p.day.Limit > 0 {
		c.left = max(c.left, len(ratio(int64(p.day.Limit-p.day.Used()), int64(p.day.Limit)))+1+len(assumed(p.day.Assumed)))
	}
	room := p.w - 1 - c.name - 1 - c.left - 1 - c.reset
	for i := range p.rows {
		longer := min(paint.Width(p.name(&p.rows[i], p.w))+1-c.name, room-shortGauge)
		c.name, room = c.name+max(longer, 0), room-max(longer, 0)
	}
	if room >= 50 {
		c.others = 15
		room -= 16
	}
	if room >= 24 { // a short gauge and a history are more useful than a long gauge
		c.spark = min(room/2, mostCells)
		room -= c.spark + 2
	}
	c.gauge = max(room, 0)
	return c
}

func (p *Quota) top(c quotaColumns) {
	l := p.title("QUOTA", -1)
	if p.Viewing() {
		l.Put(paint.Muted, " · ").Put(paint.Text, spanName(p.spending.span)).Put(paint.Muted, " ("+p.look.Keys.Span+")")
		p.sorted(l, p.spending.order)
	} else {
		p.sorted(l, p.order)
	}
	p.fill(l, 1+c.name+c.gauge+1+c.left-len("left")-l.At())
	l.Put(paint.Muted, "left").Space(1).Right(paint.Muted, "resets", c.reset)
	if c.others > 0 {
		l.Space(1).Right(paint.Muted, "own    others", c.others)
	}
	if c.spark > 0 {
		l.Space(2).Right(paint.Muted, "last minute", c.spark)
	}
	p.push(l)
}

func (p *Quota) bucket(b *quota.Bucket, c quotaColumns) {
	if unreported(b) {
		text := "not called yet"
		if answered, called := p.called[b.Class]; answered {
			text = "no limit reported"
		} else if called || p.look.Health.Waiting && b.Class == quota.Reads {
			text = "no answer yet"
		}
		p.unknown(string(b.Class), text, c)
		return
	}
	if b.Limit <= 0 && b.Over(p.look.Now) {
		p.unknown(p.name(b, c.name-1), "limit unknown", c)
		return
	}
	l := p.start().Space(1)
	left := b.Left(p.look.Now)
	l.Fit(paint.Text, p.name(b, c.name-1), c.name)
	gauge(l, left, b.Limit, c.gauge)
	l.Space(1)
	p.ratio(l, atMost(left, !b.Over(p.look.Now)), left, "", b.Limit, c.left)
	reset, resetStyle := p.reset(b), paint.Muted
	if soon := p.look.runsOut(p.runsOut(b)); soon != "" && left > 0 && c.reset > 0 {
		reset, resetStyle = soon, paint.Warning
	}
	if wait := b.Next.Sub(p.look.Now); wait > 0 {
		reset, resetStyle = "waits "+wording.Until(wait), paint.Warning
	}
	l.Space(1).Right(resetStyle, reset, c.reset)
	if c.others > 0 {
		own, others := rate(b.Own), rate(b.Others)
		l.Space(1).Right(paint.Muted, own, 6)
		style := paint.Text
		if b.Others < 0.05 {
			style = paint.Muted
		}
		l.Right(style, others, c.others-6)
	}
	if c.spark > 0 {
		sparkline(l.Space(2), b.History, b.Limit, p.look.Now, time.Minute, c.spark)
	}
	p.push(l)
}

// unknown draws a limit without any figures.
func (p *Quota) unknown(name, why string, c quotaColumns) {
	l := p.start().Space(1).Fit(paint.Muted, name, c.name).Repeat(paint.Faint, "─", c.gauge)
	p.push(l.Space(1).Right(paint.Muted, why, c.left+1+c.reset))
}

// name returns the bucket's class in w cells, with its policy if the class has several
// buckets, and with its window if the policy has several.
func (p *Quota) name(b *quota.Bucket, w int) string {
	name, policy := string(b.Class), b.Policy
	var others []string
	for i := range p.rows {
		other := &p.rows[i]
		if other == b || other.Class != b.Class {
			continue
		}
		if other.Policy != b.Policy {
			others = append(others, other.Policy)
			continue
		}
		policy = b.Policy + " " + api.Span(b.Window)
		others = append(others, other.Policy+" "+api.Span(other.Window))
	}
	if len(others) == 0 {
		return name
	}
	return name + " " + apart(policy, others, w-len(name)-1)
}

func ratio(left, limit int64) string { return wording.Count(int(left)) + " / " + limitText(limit) }

// limitText writes a limit, of which 0 is unknown.
func limitText(limit int64) string {
	if limit <= 0 {
		return "–"
	}
	return wording.Count(int(limit))
}

// assumed returns the sign before a limit that the service has not reported, "" otherwise.
func assumed(unreported bool) string {
	if unreported {
		return sign.Grounds(account.Assumed)
	}
	return ""
}

// ratio draws what is left of a limit, at the right of w cells; bound and grounds precede
// figures that the service did not report.
func (p *Quota) ratio(l *paint.Line, bound string, left int64, grounds string, limit int64, w int) {
	l.Space(w - paint.Width(ratio(left, limit)) - paint.Width(bound) - paint.Width(grounds))
	l.Put(paint.Muted, bound).Put(numberStyle(left, limit)|paint.Bold, wording.Count(int(left)))
	l.Put(paint.Muted, " / "+grounds+limitText(limit))
}

// atMost is the sign before what is left if there may be less: the service did not say so, and
// something is left.
func atMost(left int64, told bool) string {
	if told || left <= 0 {
		return ""
	}
	return "≤"
}

// reset returns when the bucket is full again, or how old its last report is.
func (p *Quota) reset(b *quota.Bucket) string {
	age := p.look.Now.Sub(b.ObservedAt)
	switch {
	case b.Unreported, b.ObservedAt.IsZero():
		return "–"
	case b.Over(p.look.Now):
		return "has reset"
	case b.Reset > 0:
		return wording.Until(b.Reset - age)
	}
	return "seen " + Past(age) + " ago"
}

// rate writes requests a second in a fixed width.
func rate(r float64) string {
	if r < 0.05 {
		return "–"
	}
	if r >= 100 {
		return strconv.Itoa(int(r)) + "/s"
	}
	return strconv.FormatFloat(r, 'f', 1, 64) + "/s"
}

func numberStyle(left, limit int64) paint.Style {
	if style := leftStyle(left, limit); style != paint.Good {
		return style
	}
	return paint.Text
}

// strip returns the whole pane in one line.
func (p *Quota) strip() *paint.Line {
	l := p.title("QUOTA", -1)
	l.Space(1)
	for i := range p.rows {
		b := &p.rows[i]
		if unreported(b) || b.Limit <= 0 && b.Over(p.look.Now) {
			continue
		}
		left := b.Left(p.look.Now)
		name := p.name(b, l.Left())
		rest, limit := atMost(left, !b.Over(p.look.Now))+wording.Count(int(left)), limitText(b.Limit)
		if l.Left() < paint.Width(name+rest+limit)+4 {
			return l
		}
		l.Space(1).Put(paint.Muted, name+" ").Put(numberStyle(left, b.Limit), rest)
		l.Put(paint.Muted, "/"+limit).Space(1)
	}
	if !p.dayKnown() {
		return l
	}
	if p.hasDay() && p.day.Limit == 0 && l.Left() >= 19 {
		l.Space(1).Put(paint.Muted, "today "+atLeast(!p.day.Told)+wording.Count(p.day.Used())+" made")
	}
	left := int64(max(p.day.Limit-p.day.Used(), 0))
	before, rest := "today "+atMost(left, p.day.Told), wording.Count(int(left))
	limit := "/" + assumed(p.day.Assumed) + wording.Count(p.day.Limit)
	if p.day.Limit > 0 && l.Left() > 1+paint.Width(before)+paint.Width(rest)+paint.Width(limit) {
		l.Space(1).Put(paint.Muted, before).Put(numberStyle(left, int64(p.day.Limit)), rest).Put(paint.Muted, limit)
	}
	return l
}
