package pane

import (
	"strconv"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
)

// Quota shows what is left of the account's quota and who eats it: a gauge a
// bucket, and two estimates that no header reports.
type Quota struct {
	frame
	buckets []quota.Bucket
	day     account.DayCount
	agents  account.AgentCount
	seen    bool
	offset  int
}

// NewQuota makes the pane.
func NewQuota(look *Look) *Quota { return &Quota{frame: newFrame(look)} }

// Apply takes over the summary. It is drawn with the next second: that is as
// fine as the service tells it.
func (p *Quota) Apply(c *account.Changes, first bool) {
	p.buckets, p.day, p.agents = c.Summary.Quota, c.Summary.Day, c.Summary.Agents
	seen := p.seen
	p.seen = p.seen || len(p.buckets) > 0 || p.day.Limit > 0
	p.stale = p.stale || first || p.seen != seen
}

// Subject is nothing: a bucket has no detail.
func (p *Quota) Subject() Subject { return Subject{} }

// Move scrolls when there are more buckets than rows.
func (p *Quota) Move(s Step) {
	by := map[Step]int{Up: -1, Down: 1, PageUp: -p.h, PageDown: p.h, First: -len(p.buckets), Last: len(p.buckets)}[s]
	p.Wheel(0, 0, by)
}

// Click does nothing but take the focus.
func (p *Quota) Click(_, _ int) {}

// Wheel scrolls.
func (p *Quota) Wheel(_, _, delta int) {
	p.offset = min(max(p.offset+delta, 0), max(len(p.buckets)+2-(p.h-p.head()), 0))
	p.stale = true
}

// Lines draws the pane.
func (p *Quota) Lines() []string {
	return p.render(func(l *paint.Line) {
		if p.collapsed() {
			p.push(p.strip())
			return
		}
		c := p.columns()
		p.top(c)
		p.rule()
		if !p.seen {
			p.message(paint.Muted, "no answer has told its quota yet", "")
			return
		}
		p.draw(c)
	})
}

func (p *Quota) draw(c quotaColumns) {
	estimates := 0
	if p.day.Limit > 0 {
		estimates++
	}
	if p.agents.Limit > 0 {
		estimates++
	}
	p.offset = min(p.offset, max(len(p.buckets)+estimates-(p.h-p.head()), 0))
	for i := p.offset; i < len(p.buckets); i++ {
		p.bucket(&p.buckets[i], c)
	}
	if p.h-len(p.lines) > estimates && len(p.buckets) > 0 {
		p.push(p.start())
	}
	if p.day.Limit > 0 {
		p.today(c)
	}
	if p.agents.Limit > 0 {
		p.slots(c)
	}
}

// quotaColumns are the widths of the columns; 0 leaves one out.
type quotaColumns struct{ name, gauge, left, reset, others, spark int }

func (p *Quota) columns() quotaColumns {
	c := quotaColumns{name: 11, left: 8, reset: 7}
	room := p.w - 1 - c.name - 1 - c.left - 1 - c.reset
	if room >= 34 {
		c.others = 15
		room -= 16
	}
	if room >= 34 {
		c.spark = min(room/2, minute)
		room -= c.spark + 2
	}
	c.gauge = min(max(room-1, 0), 40)
	return c
}

func (p *Quota) top(c quotaColumns) {
	l := p.title("QUOTA", -1)
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
	left := b.Left(p.look.Now)
	l := p.start().Space(1)
	l.Fit(paint.Text, p.name(b), c.name)
	gauge(l, left, b.Limit, c.gauge)
	l.Space(1)
	p.ratio(l, strconv.FormatInt(left, 10), b.Limit, leftStyle(left, b.Limit), c.left)
	l.Space(1).Right(paint.Muted, p.reset(b), c.reset)
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
		sparkline(l.Space(2), b, p.look.Now, c.spark)
	}
	p.push(l)
}

// name is the bucket's class; its policy too where the class has several.
func (p *Quota) name(b *quota.Bucket) string {
	for i := range p.buckets {
		other := &p.buckets[i]
		if other != b && other.Class == b.Class {
			return string(b.Class) + " " + b.Policy
		}
	}
	return string(b.Class)
}

func (p *Quota) ratio(l *paint.Line, left string, limit int64, style paint.Style, w int) {
	all := strconv.FormatInt(limit, 10)
	l.Space(w - len(left) - len(all) - 3)
	if style == paint.Good {
		style = paint.Text
	}
	l.Put(style|paint.Bold, left).Put(paint.Muted, " / "+all)
}

// reset says when the bucket is full again, or how old the last report is.
func (p *Quota) reset(b *quota.Bucket) string {
	if b.ObservedAt.IsZero() {
		return "–"
	}
	if rest := b.Reset - p.look.Now.Sub(b.ObservedAt); rest > 0 {
		return Age((rest + time.Second - 1).Truncate(time.Second))
	}
	if old := p.look.Now.Sub(b.ObservedAt); old >= 10*time.Second {
		return Age(old) + " ago"
	}
	return "full"
}

// rate writes requests a second in a width that does not change.
func rate(r float64) string {
	if r < 0.05 {
		return "–"
	}
	if r >= 100 {
		return strconv.Itoa(int(r)) + "/s"
	}
	return strconv.FormatFloat(r, 'f', 1, 64) + "/s"
}

// today shows the intents that are known to have been made within a day. There
// may be more: it counts from below, and says so.
func (p *Quota) today(c quotaColumns) {
	l := p.start().Space(1).Fit(paint.Text, "today", c.name)
	left := int64(p.day.Limit - p.day.Seen)
	gauge(l, left, int64(p.day.Limit), c.gauge)
	seen := strconv.Itoa(p.day.Seen)
	l.Space(2)
	most := " of " + strconv.Itoa(p.day.Limit)
	if l.Left() < len("at least ")+len(seen)+len(most)+len(" intents used") {
		l.Put(paint.Muted, "≥ ").Put(numberStyle(left, int64(p.day.Limit))|paint.Bold, seen).Put(paint.Muted, most)
	} else {
		l.Put(paint.Muted, "at least ").Put(numberStyle(left, int64(p.day.Limit))|paint.Bold, seen)
		l.Put(paint.Muted, most+" intents used")
	}
	p.push(l)
}

// slots shows how many agents are known to be placing orders, of the cap.
func (p *Quota) slots(c quotaColumns) {
	l := p.start().Space(1).Fit(paint.Text, "agents", c.name)
	gauge(l, int64(p.agents.Limit-p.agents.Placing), int64(p.agents.Limit), c.gauge)
	left := int64(p.agents.Limit - p.agents.Placing)
	l.Space(2).Put(numberStyle(left, int64(p.agents.Limit))|paint.Bold, strconv.Itoa(p.agents.Placing))
	l.Put(paint.Muted, " of "+strconv.Itoa(p.agents.Limit))
	if l.Left() >= len(" placing orders") {
		l.Put(paint.Muted, " placing orders")
	}
	p.push(l)
}

func numberStyle(left, limit int64) paint.Style {
	if style := leftStyle(left, limit); style != paint.Good {
		return style
	}
	return paint.Text
}

// strip is the whole pane in one line.
func (p *Quota) strip() *paint.Line {
	l := p.title("QUOTA", -1)
	l.Space(1)
	for i := range p.buckets {
		b := &p.buckets[i]
		left := b.Left(p.look.Now)
		name := p.name(b)
		if l.Left() < len(name)+9 {
			return l
		}
		l.Space(1).Put(paint.Muted, name+" ").Put(numberStyle(left, b.Limit), strconv.FormatInt(left, 10))
		l.Put(paint.Muted, "/"+strconv.FormatInt(b.Limit, 10)).Space(1)
	}
	if p.day.Limit > 0 && l.Left() >= 14 {
		l.Space(1).Put(paint.Muted, "today ≥").Put(paint.Text, strconv.Itoa(p.day.Seen))
		l.Put(paint.Muted, "/"+strconv.Itoa(p.day.Limit))
	}
	return l
}
