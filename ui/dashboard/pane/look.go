// Package pane holds the panes of the dashboard. A pane keeps its last drawing, and draws
// again only after a change.
package pane

import (
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Look is what all panes share for drawing. The root owns and changes it.
type Look struct {
	Brush    *paint.Brush
	Now      time.Time
	Ahead    time.Duration // how far this machine's clock is ahead of the service's
	Location *time.Location
	Health   Health
	Opened   Subject // the subject of the detail
	Partial  bool    // not every intent is known: an order may have more items
	Tabs     Tabs
	Keys     Keys
	Pulse    func() *account.Pulse // of the intents on the board; it changes only with the clock
}

// service returns the time of the service's clock, which decides when confirm windows close.
func (l *Look) service() time.Time { return l.Now.Add(-l.Ahead) }

// Keys are the names of keys that panes mention.
type Keys struct{ Follow, ShowAll, Span, Refresh string }

// Health says why a pane has no rows.
type Health struct {
	Started bool   // the first picture has been applied
	Waiting bool   // the service has not answered yet: whatever is missing is unknown
	Text    string // one sentence; "" when all is well
	Cause   string // the error behind it; "" if none
	Advice  string // what to do about it
	Style   paint.Style
	OfRelay bool // it affects events
}

// sentence returns the text with its cause.
func (h Health) sentence() string {
	if h.Cause == "" {
		return h.Text
	}
	return h.Text + " (" + h.Cause + ")"
}

// glow is how long a changed cell is highlighted, or up to a second less: the clock moves in
// seconds.
const glow = 2 * time.Second

// frame is what every pane has: a size, the focus and its last drawing.
type frame struct {
	look    *Look
	line    *paint.Line
	brush   *paint.Brush
	place   Place
	w, h    int // of the place
	focused bool
	tabEnds [len(tabNames)]int // where the names of tabs end in the title; 0: not in it
	stale   bool
	unwell  bool // it shows what is wrong in place of its rows
	lines   []string
}

func newFrame(look *Look) frame {
	return frame{look: look, stale: true}
}

// Panes without data or rows inherit the following methods.

// Apply ignores changes.
func (f *frame) Apply(*account.Changes, bool) {}

// Forget does nothing.
func (f *frame) Forget() {}

// Hold does nothing.
func (f *frame) Hold(bool) {}

// Move does nothing.
func (f *frame) Move(Step) {}

// Click finds no row.
func (f *frame) Click(_, _ int) (row bool) { return false }

// Wheel does nothing.
func (f *frame) Wheel(_, _, _ int) {}

// Subject is nothing.
func (f *frame) Subject() Subject { return Subject{} }

// Place is where a pane stands on the screen.
type Place struct {
	W, H    int  // in cells
	Stacked bool // the panes are above each other, each as wide as the screen
	Edge    bool // the pane reaches the right edge of the screen
}

// SetPlace places the pane.
func (f *frame) SetPlace(p Place) {
	if f.place != p {
		f.place, f.w, f.h, f.stale = p, p.W, p.H, true
	}
}

// SetFocus sets whether the keys go to this pane.
func (f *frame) SetFocus(focused bool) {
	if f.focused != focused {
		f.focused, f.stale = focused, true
	}
}

// gutter draws the column before a row and sets the row's ground. The row that the detail
// shows is marked while the cursor is elsewhere.
func (f *frame) gutter(l *paint.Line, under, opened, glows bool) {
	switch {
	case under:
		l.On(paint.Selected).Put(paint.Accent, "▌")
	case opened:
		l.Put(paint.Muted, "▌")
	case glows:
		l.On(paint.Glow).Space(1)
	default:
		l.Space(1)
	}
}

// glows reports whether something has just changed. A time in the future means that the
// clock was set back.
func (f *frame) glows(changed time.Time) bool {
	since := f.look.Now.Sub(changed)
	return since >= 0 && since < glow
}

// Invalidate makes the pane draw again.
func (f *frame) Invalidate() { f.stale = true }

// Stale reports whether the pane will draw again.
func (f *frame) Stale() bool { return f.stale }

// render returns the h lines of the pane, each w cells wide. If they are stale, it calls draw,
// which pushes them.
func (f *frame) render(draw func()) []string {
	if !f.stale {
		return f.lines
	}
	if f.line == nil || f.brush != f.look.Brush {
		f.line, f.brush = paint.NewLine(f.look.Brush), f.look.Brush
	}
	f.lines, f.unwell = f.lines[:0], false
	if f.w > 0 && f.h > 0 {
		draw()
		for len(f.lines) < f.h {
			f.push(f.start())
		}
		f.lines = f.lines[:f.h]
	}
	f.stale = false
	return f.lines
}

func (f *frame) start() *paint.Line {
	l := f.line.Start(f.w)
	if f.place.Edge {
		l.Edge()
	}
	return l
}

func (f *frame) push(l *paint.Line) {
	n, before := len(f.lines), ""
	if n < cap(f.lines) {
		before = f.lines[:n+1][n] // of the last drawing
	}
	f.lines = append(f.lines, l.Renewed(before))
}

// title starts the first line of the pane: the mark of the focus, the name and, unless it is
// negative, a count.
func (f *frame) title(name string, count int) *paint.Line {
	l := f.start()
	if f.focused {
		l.Put(paint.Accent, "▌").Put(paint.Accent|paint.Bold, name)
	} else {
		l.Space(1).Put(paint.Muted|paint.Bold, name)
	}
	if count >= 0 {
		l.Space(1).Put(paint.Text, wording.Count(count))
	}
	return l
}

// freshness says in a title how old the pane's newest data is; "" if there is none, or no room.
func (f *frame) freshness(word string, at time.Time) string {
	if at.IsZero() || f.w < 60 {
		return ""
	}
	return " · " + word + " " + f.look.freshness(at)
}

// freshness writes an age in steps: a title must not tick every second. It is "" if there
// is no data.
func (l *Look) freshness(at time.Time) string {
	age := l.Now.Sub(at)
	if age < pastStep {
		age = age.Truncate(freshStep)
	}
	switch {
	case at.IsZero():
		return ""
	case age < freshStep:
		return "now"
	}
	return Past(age) + " ago"
}

// freshStep is the step of an age in a title.
const freshStep = 5 * time.Second

// compact reports whether room is scarce: the rule is then part of the title.
func (f *frame) compact() bool { return f.place.Stacked }

// head returns the number of lines above the rows.
func (f *frame) head() int {
	if f.compact() {
		return 1
	}
	return 2
}

// fill fills n cells between the left and the right part of the title.
func (f *frame) fill(l *paint.Line, n int) {
	n = min(n, l.Left())
	if !f.compact() || n < 3 {
		l.Space(n)
		return
	}
	l.Space(1).Repeat(paint.Rule, "─", n-2).Space(1)
}

func (f *frame) rule() {
	if f.compact() {
		return
	}
	f.push(f.start().Space(1).Repeat(paint.Rule, "─", f.w-1))
}

// collapsed reports whether there is only room for the title.
func (f *frame) collapsed() bool { return f.h < 2 }

// ShowsHealth reports whether the pane shows all of [Health] in place of its rows.
func (f *frame) ShowsHealth() bool { return f.unwell }

// message shows a sentence and perhaps an advice in the rest of the pane, a third of the
// way down. It returns false if not all fits.
func (f *frame) message(style paint.Style, text, advice string) (whole bool) {
	rest := f.h - len(f.lines)
	if rest <= 0 {
		return false
	}
	width := max(f.w-6, 1)
	lines := paint.Wrap(text, width)
	split := len(lines)
	lines = append(lines, paint.Wrap(advice, width)...)
	for range max(rest-len(lines), 0) / 3 {
		f.push(f.start())
	}
	for i, line := range lines {
		if i >= split {
			style = paint.Muted
		}
		if len(f.lines) < f.h {
			f.push(f.start().Space(3).Put(style, line))
		}
	}
	return len(lines) <= rest
}

// empty says why there are no rows: what is wrong, or else the sentence.
func (f *frame) empty(sentence string) {
	if h := f.look.Health; h.Text != "" {
		advice := h.Advice
		if h.Style == paint.Bad {
			advice = strings.TrimPrefix(advice+"; tillwatch doctor says more", "; ")
		}
		f.unwell = f.message(h.Style, h.sentence(), advice)
		return
	}
	f.message(paint.Muted, sentence, "")
}

// unlessWaiting says why there are no rows: the service has not answered yet, or else the
// sentence.
func (f *frame) unlessWaiting(sentence string) {
	if f.look.Health.Waiting {
		f.empty(sentence)
		return
	}
	f.message(paint.Muted, sentence, "")
}

// Past is [wording.Age] for a narrow column: at most 99d, and between ten seconds and a
// minute in steps of ten, as a board on which every row ticks is hard to read.
func Past(d time.Duration) string {
	if d >= pastStep && d < time.Minute {
		d = d.Truncate(pastStep)
	}
	return wording.Age(min(d, 99*24*time.Hour))
}

const pastStep = 10 * time.Second

func (l *Look) age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Past(l.Now.Sub(t))
}

// ageOf writes how long an intent has been in its state; "" if that is unknown.
func (l *Look) ageOf(in *account.Intent) string { return l.age(beganAt(in)) }

// beganAt returns when an intent entered its state; zero if that is unknown.
func beganAt(in *account.Intent) time.Time {
	if in.Found {
		return time.Time{}
	}
	return in.Entered()
}

func (l *Look) moment(at time.Time) string { return wording.Moment(at, l.Now, l.Location) }

func (l *Look) clock(t time.Time) string { return t.In(l.Location).Format("15:04:05") }
