package pane

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

// Detail shows all that is known of one thing. It keeps its subject while the
// cursor of the board goes on.
type Detail struct {
	frame
	window  time.Duration
	subject Subject
	facts   Facts
	fed     bool
	offset  int
	total   int // lines, as last drawn
	body    []func(l *paint.Line)
}

// Facts is what a detail is drawn from. What does not apply is nil.
type Facts struct {
	Intent    *account.Intent
	Shipment  *account.Shipment
	Event     *account.Event
	Request   *api.Exchange
	Shipments []*account.Shipment // of the intent
}

// NewDetail makes the pane, empty.
func NewDetail(look *Look, window time.Duration) *Detail {
	return &Detail{frame: newFrame(look), window: window}
}

// Open turns to a subject.
func (p *Detail) Open(s Subject) {
	p.subject, p.facts, p.fed, p.offset, p.stale = s, Facts{}, false, 0, true
}

// Subject is what is shown.
func (p *Detail) Subject() Subject { return p.subject }

// Fed reports whether the subject has been given its facts.
func (p *Detail) Fed() bool { return p.fed }

// Feed gives the subject its facts as they are now.
func (p *Detail) Feed(f Facts) {
	if p.fed && p.facts.Intent == f.Intent && p.facts.Shipment == f.Shipment && p.facts.Event == f.Event && p.facts.Request == f.Request &&
		slices.Equal(p.facts.Shipments, f.Shipments) {
		return
	}
	p.facts, p.fed, p.stale = f, true, true
}

// Move scrolls.
func (p *Detail) Move(s Step) {
	page := max(p.h-3, 1)
	by := map[Step]int{Up: -1, Down: 1, PageUp: -page, PageDown: page, First: -p.total, Last: p.total}[s]
	p.Wheel(0, 0, by)
}

// Click does nothing but take the focus.
func (p *Detail) Click(_, _ int) {}

// Wheel scrolls.
func (p *Detail) Wheel(_, _, delta int) {
	p.offset = min(max(p.offset+delta, 0), max(p.total-(p.h-2), 0))
	p.stale = true
}

// Lines draws the pane.
func (p *Detail) Lines() []string {
	return p.render(func(*paint.Line) {
		p.body = p.body[:0]
		name := "DETAIL"
		switch p.subject.Kind {
		case OfIntent:
			name = "INTENT"
			p.intent()
		case OfShipment:
			name = "SHIPMENT"
			p.shipment()
		case OfEvent:
			name = "EVENT"
			p.event()
		case OfRequest:
			name = "REQUEST"
			p.request()
		}
		l := p.title(name, -1)
		if p.subject.Kind != OfRequest {
			l.Space(2).Put(paint.Muted, string(p.subject.ID))
		}
		p.total = len(p.body)
		p.offset = min(p.offset, max(p.total-(p.h-2), 0))
		p.push(l)
		p.rule()
		for _, draw := range p.body[p.offset:] {
			if len(p.lines) == p.h {
				break
			}
			l := p.start().Space(2)
			draw(l)
			p.push(l)
		}
		if hidden := p.total - p.offset - (p.h - 2); hidden > 0 && p.h > 3 {
			p.lines[p.h-1] = p.start().Space(2).Put(paint.Muted, "↓ "+group(hidden+1)+" more lines").String()
		}
	})
}

func (p *Detail) add(draw func(l *paint.Line)) { p.body = append(p.body, draw) }

func (p *Detail) blank() { p.add(func(*paint.Line) {}) }

func (p *Detail) heading(text string) {
	p.blank()
	p.add(func(l *paint.Line) { l.Put(paint.Muted|paint.Bold, text) })
}

// labelWidth is where the values of facts begin.
const labelWidth = 13

// fact adds a label and a value; an empty value is left out. A value that is
// wider than the pane goes on below.
func (p *Detail) fact(label string, style paint.Style, value string) {
	if value == "" {
		return
	}
	for i, part := range paint.Wrap(value, p.w-2-labelWidth-1) {
		p.add(func(l *paint.Line) {
			if i == 0 {
				l.Fit(paint.Muted, label, labelWidth)
			} else {
				l.Space(labelWidth)
			}
			l.Put(style, part)
		})
	}
}

func (p *Detail) paragraph(style paint.Style, text string) {
	for _, part := range paint.Wrap(text, p.w-3) {
		p.add(func(l *paint.Line) { l.Put(style, part) })
	}
}

// moment writes a time with its age: 14:02:11, 38m ago.
func (p *Detail) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return p.look.stamp(t) + ", " + p.look.age(t) + " ago"
}

// stamp writes a time; one of another day with its date.
func (l *Look) stamp(t time.Time) string {
	if day := l.day(t); day != "today" {
		return t.In(l.Location).Format("Jan _2 15:04:05")
	}
	return l.clock(t)
}
