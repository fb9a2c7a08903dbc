package dashboard

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/weblink"
	"tillwatch/ui/wording"
)

// notices draws the line below the header: what a person should know now.
type notices struct {
	cfg     *Config
	picture *picture
	toast   toast
	away    func() string // what happened during the last absence, in a few words; "" if nothing did
}

// toast is a sentence that answers a person's action, shown for a while.
type toast struct {
	kind  paint.Style
	text  string
	link  weblink.Link // after the text; zero: none
	until time.Time
	holds func() bool // reports whether the sentence is still true; nil: it is
}

// The kinds of toast.
const (
	plain   = paint.Text
	success = paint.Good
	warning = paint.Warning
)

// toastFor is how long a toast is shown.
const toastFor = 6 * time.Second

// say shows a sentence for a while.
func (n *notices) say(kind paint.Style, text string) { n.sayWhile(nil, kind, text) }

// sayWhile is like say, for a sentence that disappears once it is no longer true.
func (n *notices) sayWhile(holds func() bool, kind paint.Style, text string) {
	n.toast = toast{kind: kind, text: string(api.Scrub(text)), until: time.Now().Add(toastFor), holds: holds}
}

// sayLink is like say, for a sentence that ends in an address.
func (n *notices) sayLink(kind paint.Style, text string, link weblink.Link) {
	n.say(kind, text)
	n.toast.link = link
}

// draw shows the most urgent notice, and nothing while all is well. inPane is true if a pane
// shows the health already.
func (n *notices) draw(l *paint.Line, clock time.Time, health pane.Health, inPane bool, batch *batch, welcome *welcome) {
	t := &n.toast
	switch {
	case t.shown():
		l.Put(t.kind, t.sentence()).Link(t.kind, string(api.MaskAddress(api.Scrub(t.link.Address))), t.link.Address)
	case batch.queue != nil:
		if n.picture.frozen != nil {
			l.Put(paint.Accent|paint.Bold, "FROZEN ")
		}
		batch.draw(l)
	case n.picture.frozen != nil:
		n.frozen(l)
	case n.cfg.recordingState().Trouble != "":
		l.Put(paint.Bad, "✕ "+string(api.Scrub(n.cfg.recordingState().Trouble)))
	case health.Style == paint.Bad:
		if !inPane {
			unwell(l, "✕ ", health)
		}
	case welcome.isNew():
		welcome.draw(l)
	case len(n.picture.urgent) > 0:
		n.alert(l, clock)
		if text := " · " + n.away(); n.away() != "" && paint.Width(text) < l.Left() {
			l.Put(paint.Muted, text)
		}
	case n.away() != "":
		l.Put(paint.Muted, "· "+n.away())
	case health.Style == paint.Warning && !inPane:
		unwell(l, "! ", health)
	}
}

// shown reports whether the toast is on the screen now. Once it is no longer true, it never
// comes back.
func (t *toast) shown() bool {
	if t.holds != nil && !t.holds() {
		*t = toast{}
	}
	return t.text != "" && time.Now().Before(t.until)
}

func (t *toast) sentence() string {
	return map[paint.Style]string{success: "✓ ", warning: "! ", plain: "· "}[t.kind] + t.text
}

// wrapped returns the lines, at most most, of a toast that is wider than width. A toast with a link
// is not wrapped.
func (n *notices) wrapped(width, most int) []string {
	t := &n.toast
	if !t.shown() || t.link.Address != "" || paint.Width(t.sentence()) <= width {
		return nil
	}
	lines := paint.Wrap(t.sentence(), width)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] += "…"
	}
	return lines
}

// leastCause is the least width of a cause that is cut.
const leastCause = 20

// unwell says what is wrong with the picture, what to do, the cause, and where to learn
// more, as far as there is room.
func unwell(l *paint.Line, glyph string, h pane.Health) {
	l.Put(h.Style, glyph+h.Text)
	if h.Advice != "" {
		l.Put(paint.Muted, " — "+h.Advice)
	}
	if room := l.Left() - len(" ()"); h.Cause != "" && (room >= leastCause || paint.Width(h.Cause) <= room) {
		l.Put(paint.Muted, " ("+paint.Shorten(h.Cause, room)+")") // what went wrong is at its end
	}
	if more := " · tillwatch doctor says more"; h.Style == paint.Bad && paint.Width(more) <= l.Left() {
		l.Put(paint.Muted, more)
	}
}

// frozen says since when the screen is frozen, and how many events it misses.
func (n *notices) frozen(l *paint.Line) {
	fresh := n.picture.summary.Events.Received - n.picture.frozen.events
	l.Put(paint.Accent|paint.Bold, "FROZEN ").Put(paint.Text, "at "+n.picture.frozen.at.In(n.cfg.Location).Format("15:04:05"))
	events := " new events"
	if fresh == 1 {
		events = " new event"
	}
	l.Put(paint.Muted, " · ").Put(paint.Text, wording.Count(fresh)).Put(paint.Muted, events+" · "+n.cfg.Actions.KeyOf(action.Freeze)+" resumes")
}

// alert shows the most urgent alert and how many more there are.
func (n *notices) alert(l *paint.Line, clock time.Time) {
	alerts := n.picture.urgent
	a := pressing(alerts, clock)
	a.Text = string(api.Scrub(a.Text))
	l.Put(paint.Warning, "⚑ ").Put(paint.Warning, pane.AlertText(&a, clock, n.cfg.Location, l.Left()))
	since, more := "", ""
	switch {
	case spent(a):
		since = " · since " + wording.Moment(a.Since, clock, n.cfg.Location)
	case !a.Since.IsZero():
		since = " · raised " + wording.Age(clock.Sub(a.Since)) + " ago"
	}
	if others := len(alerts) - 1; others > 0 {
		more = " · and " + wording.Count(others) + " more"
	}
	if !spent(a) && paint.Width(since+more) >= l.Left() {
		since = ""
	}
	for _, tail := range []string{since, more} {
		if paint.Width(tail) < l.Left() {
			l.Put(paint.Muted, tail)
		}
	}
}

// spent reports whether an alert says that the day's intents are used up.
func spent(a account.Alert) bool { return a.Kind == account.AlertDay && !a.Due.IsZero() }

// pressing returns the alert to act on first: the unknown outcome of a confirm, else that the day's intents are used up, else the
// next one due soon, else the newest one without a due time, else the next one due later.
// An awaiting intent comes last: there is still time to confirm it.
func pressing(alerts []account.Alert, now time.Time) account.Alert {
	urgency := func(a account.Alert) int {
		switch {
		case a.Kind == account.AlertConfirm:
			return -2
		case spent(a):
			return -1
		case attention.Pressing(a, now):
			return 0
		case a.Kind == account.AlertAwaiting:
			return 3
		case a.Due.IsZero():
			return 1
		}
		return 2
	}
	return slices.MinFunc(alerts, func(a, b account.Alert) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), a.Due.Compare(b.Due), b.Since.Compare(a.Since))
	})
}
