package pane

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Detail shows everything about one thing, its subject.
type Detail struct {
	frame
	window   time.Duration
	subject  Subject
	facts    Facts
	hasFacts bool // facts is set
	offset   int
	cursor   int // line of the body
	total    int // number of lines when last drawn
	body     []bodyLine

	revealed bool // personal data is shown
	tree     tree
	sought   sought
}

// Facts is the content of a detail. Fields that do not apply are nil.
type Facts struct {
	Intent    *account.IntentDetail
	Shipment  *account.Shipment
	Event     *account.Event
	Request   *api.Exchange
	Order     *account.Order
	Shipments []*account.Shipment // of the intent
	Confirm   *account.Confirm    // the newest of the intent
	Settled   string              // what happens next if its outcome is unknown; "" if it is known
}

// NewDetail returns the pane without a subject.
func NewDetail(look *Look, window time.Duration) *Detail {
	return &Detail{frame: newFrame(look), window: window}
}

// Open sets the subject.
func (p *Detail) Open(s Subject) {
	p.subject, p.facts, p.hasFacts, p.offset, p.stale = s, Facts{}, false, 0, true
	p.cursor, p.revealed = 0, false
	p.tree, p.sought = tree{}, sought{}
}

// Subject returns the subject.
func (p *Detail) Subject() Subject { return p.subject }

// HasFacts reports whether SetFacts was called for the subject.
func (p *Detail) HasFacts() bool { return p.hasFacts }

// SetFacts sets the current facts of the subject.
func (p *Detail) SetFacts(f Facts) {
	of := p.facts
	if p.hasFacts && slices.Equal(of.Shipments, f.Shipments) && sameDetail(of.Intent, f.Intent) && of.Shipment == f.Shipment && of.Event == f.Event &&
		of.Request == f.Request && of.Order == nil && f.Order == nil && of.Confirm == f.Confirm && of.Settled == f.Settled {
		return
	}
	p.facts, p.hasFacts, p.stale = f, true, true
}

// sameDetail reports whether two details of an intent look the same. Each change of an intent
// is in its timeline or in the answer.
func sameDetail(a, b *account.IntentDetail) bool {
	return a == b || a != nil && b != nil && a.Intent == b.Intent && a.Latest == b.Latest && slices.Equal(a.Timeline, b.Timeline)
}

// Move moves the cursor by lines.
func (p *Detail) Move(s Step) {
	p.cursor = min(max(p.cursor+s.by(max(p.rows()-2, 1), p.total), 0), max(p.total-1, 0))
	p.stale = true
}

// Click puts the cursor on a line. row is always false: there is nothing to open.
func (p *Detail) Click(_, y int) (row bool) {
	at := p.offset + y - p.head()
	if y < p.head() || at >= p.total {
		return false
	}
	p.cursor, p.stale = at, true
	return false
}

// Wheel scrolls.
func (p *Detail) Wheel(_, _, delta int) {
	p.offset += delta
	p.stale = true
	p.cursor = min(max(p.cursor, p.offset), max(p.offset+p.rows()-2, 0))
}

// SetFocus sets whether the keys go to this pane. Losing the focus hides personal data.
func (p *Detail) SetFocus(focused bool) {
	p.frame.SetFocus(focused)
	if !focused {
		p.Reveal(false)
	}
}

// Reveal shows or hides the buyer's personal data. Payment tokens stay hidden.
func (p *Detail) Reveal(revealed bool) {
	if p.revealed != revealed {
		p.revealed, p.stale = revealed, true
	}
}

// Revealed reports whether personal data is shown.
func (p *Detail) Revealed() bool { return p.revealed }

// Value returns the value on the cursor's line, for copying; "" if there is none. private
// is true for personal data.
func (p *Detail) Value() (value string, private bool) {
	if p.cursor >= len(p.body) {
		return "", false
	}
	return p.body[p.cursor].value, p.body[p.cursor].private
}

func (p *Detail) rows() int { return max(p.h-p.head(), 1) }

// Lines draws the pane.
func (p *Detail) Lines() []string {
	return p.render(func() {
		p.body = p.body[:0]
		name := p.compose()
		p.gather()
		p.scrollTo()
		l := p.title(name, -1)
		if p.revealed {
			l.Space(2).Put(paint.Warning|paint.Bold, "PERSONAL DATA SHOWN")
		}
		if p.sought.text != "" {
			l.Space(2).Put(paint.Accent, "/ "+p.sought.text).Space(2).Put(paint.Text, p.Found())
		}
		if p.subject.Kind != OfRequest {
			l.Space(2).Put(paint.Muted, string(p.subject.ID))
		}
		p.push(l)
		p.rule()
		for i := p.offset; i < len(p.body) && len(p.lines) < p.h; i++ {
			l, found := p.start(), paint.Glow
			if i == p.cursor && p.focused {
				found = paint.Selected
				l.On(paint.Selected).Put(paint.Accent, "▌").Space(1)
			} else {
				l.Space(2)
			}
			p.body[i].draw(l)
			p.push(l)
			p.highlight(found)
		}
		if hidden := p.total - p.offset - p.rows(); hidden > 0 && p.h > 3 {
			p.lines[p.h-1] = p.start().Space(2).Put(paint.Muted, "↓ "+wording.Count(hidden+1)+" more lines").String()
		}
	})
}

// sheet describes how a kind of subject is shown.
type sheet struct {
	name  string
	known bool   // facts are known
	none  string // shown while they are not
	draw  func()
}

// compose makes the lines of the subject and returns the name of its kind.
func (p *Detail) compose() string {
	f := &p.facts
	s, ok := map[Kind]sheet{
		OfIntent:   {"INTENT", f.Intent != nil, "nothing is known about this intent yet", p.intent},
		OfShipment: {"SHIPMENT", f.Shipment != nil, "nothing is known about this shipment yet", p.shipment},
		OfEvent:    {"EVENT", f.Event != nil, "this event is no longer kept", p.event},
		OfRequest:  {"REQUEST", f.Request != nil, "this request is no longer kept", p.request},
		OfOrder:    {"ORDER", f.Order != nil, "no intent has this reference any more", p.wholeOrder},
	}[p.subject.Kind]
	switch {
	case !ok:
		return "DETAIL"
	case s.known:
		s.draw()
	default:
		p.blank()
		p.paragraph(paint.Muted, s.none)
	}
	return s.name
}

// scrollTo keeps the cursor in view, above the line with the number of further lines.
func (p *Detail) scrollTo() {
	p.total = len(p.body)
	p.cursor = min(p.cursor, max(p.total-1, 0))
	last := max(p.total-p.rows(), 0)
	p.offset = min(p.offset, p.cursor)
	if p.cursor > p.offset+p.rows()-2 {
		p.offset = p.cursor - p.rows() + 2
	}
	p.offset = min(max(p.offset, 0), last)
}

// bodyLine is one line of a detail.
type bodyLine struct {
	draw    func(l *paint.Line)
	text    string // the text for searching; "": as drawn
	value   string // for copying
	private bool   // the value is personal
}

// add adds a line, and returns it.
func (p *Detail) add(draw func(l *paint.Line)) *bodyLine {
	p.body = append(p.body, bodyLine{draw: draw})
	return &p.body[len(p.body)-1]
}

func (p *Detail) blank() { p.add(func(*paint.Line) {}) }

func (p *Detail) heading(text string) {
	p.blank()
	p.add(func(l *paint.Line) { l.Put(paint.Muted|paint.Bold, text) })
}

// labelWidth is the column where the values of facts begin.
const labelWidth = 13

// fact adds a label and a value, unless the value is empty. It wraps a wide value.
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
			l.Link(style, part, value)
		}).value = value
	}
}

// private adds a fact with personal data.
func (p *Detail) private(label, value string) {
	from := len(p.body)
	p.fact(label, paint.Text, value)
	for i := from; i < len(p.body); i++ {
		p.body[i].private = true
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

// stamp writes a time, with the date if it is not today.
func (l *Look) stamp(t time.Time) string {
	if day := l.day(t.In(l.Location)); day != "today" {
		return t.In(l.Location).Format("Jan _2 15:04:05")
	}
	return l.clock(t)
}
