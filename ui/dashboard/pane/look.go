// Package pane holds the panes of the dashboard. A pane is a plain struct that
// keeps what it last drew; it draws again only after something changed.
package pane

import (
	"strconv"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Look is what all panes draw with. The root owns and changes it.
type Look struct {
	Brush    *paint.Brush
	Now      time.Time
	Location *time.Location
	Health   Health
	Opened   Subject // what the detail shows
	Partial  bool    // not every intent is known: an order may have more items
	Tabs     Tabs
	Keys     Keys
	Pulse    func() *account.Pulse // of the intents on the board; it is the same until the clock moves
}

// Keys are those that panes speak of, as they are shown.
type Keys struct{ Follow, ShowAll, Span, SendAgain string }

// Health is what a pane without rows says about why it has none.
type Health struct {
	Started bool   // something was read from the store
	Text    string // in one sentence; "" when all is well
	Cause   string // the error behind it, if any
	Advice  string // what to do about it
	Style   paint.Style
	OfRelay bool // events suffer from it
}

// Sentence is the text with its cause.
func (h Health) Sentence() string {
	if h.Cause == "" {
		return h.Text
	}
	return h.Text + " (" + h.Cause + ")"
}

// glow is how long a cell that has just changed stands out. The clock goes by
// seconds, so that some glow for a second less.
const glow = 2 * time.Second

// frame is what every pane has: a size, the focus and its last drawing.
type frame struct {
	look    *Look
	line    *paint.Line
	brush   *paint.Brush
	w, h    int
	focused bool
	stacked bool               // among panes of the whole width
	edge    bool               // reaches the right edge of the screen
	notch   notch              // is another pane's
	columns []string           // that can be left out
	hidden  []string           // those that are
	tabEnds [len(tabNames)]int // where the names of tabs end in the title; 0 where none stands
	stale   bool
	lines   []string
}

func newFrame(look *Look, columns ...string) frame {
	return frame{look: look, columns: columns, stale: true}
}

// SetSize gives the pane w columns and h rows.
func (f *frame) SetSize(w, h int) {
	if f.w != w || f.h != h {
		f.w, f.h, f.stale = w, h, true
	}
}

// SetFocus says whether the keys go to this pane.
func (f *frame) SetFocus(focused bool) {
	if f.focused != focused {
		f.focused, f.stale = focused, true
	}
}

// SetStacked says whether the panes stand above each other, each as wide as the
// screen.
func (f *frame) SetStacked(stacked bool) {
	if f.stacked != stacked {
		f.stacked, f.stale = stacked, true
	}
}

// SetEdge says whether the pane reaches the right edge of the screen.
func (f *frame) SetEdge(edge bool) {
	if f.edge != edge {
		f.edge, f.stale = edge, true
	}
}

// notch is the lower right corner of a pane that another one has.
type notch struct{ w, h int }

// SetNotch leaves the lower right corner of the pane to another one.
func (f *frame) SetNotch(w, h int) {
	if n := (notch{w, h}); f.notch != n {
		f.notch, f.stale = n, true
	}
}

// gutter draws the column before a row and sets the row's ground. The row of the
// open detail keeps a mark while the cursor is elsewhere.
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

// glows reports whether something has just changed. A change in the future means
// that the clock was set back since.
func (f *frame) glows(changed time.Time) bool {
	since := f.look.Now.Sub(changed)
	return since >= 0 && since < glow
}

// Invalidate has the pane draw again when its lines are next asked for.
func (f *frame) Invalidate() { f.stale = true }

// Stale reports whether the pane will draw again.
func (f *frame) Stale() bool { return f.stale }

// render returns the pane's lines, h of them and each w wide.
func (f *frame) render(draw func(l *paint.Line)) []string {
	if !f.stale {
		return f.lines
	}
	if f.line == nil || f.brush != f.look.Brush {
		f.line, f.brush = paint.NewLine(f.look.Brush), f.look.Brush
	}
	f.lines = f.lines[:0]
	if f.w > 0 && f.h > 0 {
		draw(f.line)
		for len(f.lines) < f.h {
			f.push(f.start())
		}
		f.lines = f.lines[:f.h]
	}
	f.stale = false
	return f.lines
}

func (f *frame) start() *paint.Line {
	if len(f.lines) >= f.h-f.notch.h && f.notch.h > 0 {
		return f.line.Start(f.w - f.notch.w)
	}
	l := f.line.Start(f.w)
	if f.edge {
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

// title starts the pane's first line: the mark of the focus, its name, a count.
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

// freshness says how old the newest of the pane's data is, where there is room.
func (f *frame) freshness(l *paint.Line, word string, at time.Time) {
	if !at.IsZero() && f.w >= 60 {
		l.Put(paint.Muted, " · "+word+" "+f.look.freshness(at))
	}
}

// freshness is how old data is, in steps, so that a title does not tick; "" where
// there is no data.
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

// freshStep is how finely a title counts the first seconds of an age.
const freshStep = 5 * time.Second

// compact reports whether room is scarce. The rule then stands in the title.
func (f *frame) compact() bool { return f.stacked }

// head is how many lines stand above the rows.
func (f *frame) head() int {
	if f.compact() {
		return 1
	}
	return 2
}

// fill leads over n cells from the left to the right part of the title.
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

// message fills the rest of the pane with a sentence and perhaps an advice,
// a third of the way down.
func (f *frame) message(style paint.Style, text, advice string) {
	rest := f.h - len(f.lines)
	if rest <= 0 {
		return
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
}

// empty says why there is nothing to see: what is wrong, or else the sentence.
func (f *frame) empty(sentence string) {
	if h := f.look.Health; h.Text != "" {
		f.message(h.Style, h.Sentence(), h.Advice)
		return
	}
	f.message(paint.Muted, sentence, "")
}

// Age writes a duration in two figures: 4s, 38m, 5h, 12d, 99d at most.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(min(int(d/(24*time.Hour)), 99)) + "d"
}

// Past writes an age as [Age] does, but between ten seconds and a minute in steps
// of ten: a board on which every row ticks is hard to read.
func Past(d time.Duration) string {
	if d >= pastStep && d < time.Minute {
		d = d.Truncate(pastStep)
	}
	return Age(d)
}

const pastStep = 10 * time.Second

func (l *Look) age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Past(l.Now.Sub(t))
}

func (l *Look) moment(at time.Time) string { return wording.Moment(at, l.Now, l.Location) }

func (l *Look) clock(t time.Time) string { return t.In(l.Location).Format("15:04:05") }
