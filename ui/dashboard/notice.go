package dashboard

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// toast is a sentence that answers what a person did, for a while.
type toast struct {
	kind  paint.Style
	text  string
	until time.Time
	holds func() bool // whether it is still so; nil where it is once and for all
}

// unsettledFor is how long it is told that the outcome of a confirm is unknown.
const unsettledFor = 30 * time.Second

const (
	plain   = paint.Text
	success = paint.Good
	warning = paint.Warning
)

// toastFor is how long a toast is to be read.
const toastFor = 6 * time.Second

func (m *Model) say(kind paint.Style, text string) {
	m.toast = toast{kind: kind, text: string(api.Scrub(text)), until: time.Now().Add(toastFor)}
	m.redraw = true
}

// sayUnsettled tells at the start of confirms of earlier runs that nobody knows
// the outcome of.
func (m *Model) sayUnsettled() {
	lines := m.cfg.Unsettled
	if len(lines) == 0 {
		return
	}
	last := lines[len(lines)-1]
	text := "the outcome of an earlier confirm is unknown: " + string(last.Product) + " " + wording.Amount(last.Total) + ", " + string(last.Intent)
	if n := len(lines) - 1; n > 0 {
		text += " and " + wording.Count(n) + " more"
	}
	m.say(warning, text+" — reads settle it within two minutes")
	m.toast.until = time.Now().Add(unsettledFor)
}

// notice is the line below the header: what a person should know now, the most
// pressing alone; blank while all is well.
func (m *Model) notice() string {
	l := m.line.Start(m.width).Edge().Space(1)
	now := time.Now()
	switch {
	case m.toast.text != "" && now.Before(m.toast.until) && (m.toast.holds == nil || m.toast.holds()):
		glyph := map[paint.Style]string{success: "✓ ", warning: "! ", plain: "· "}[m.toast.kind]
		l.Put(m.toast.kind, glyph+m.toast.text)
	case m.queue != nil:
		m.queueNotice(l)
	case m.frozen != nil:
		m.frozenNotice(l)
	case m.cfg.Recording != nil && m.cfg.Recording() != "":
		l.Put(paint.Bad, "✕ "+string(api.Scrub(m.cfg.Recording())))
	case m.look.Health.Style == paint.Bad:
		m.healthNotice(l, "✕ ")
	case m.isNew():
		m.hintNotice(l)
	case len(m.picture.summary.Alerts) > 0:
		m.alertNotice(l)
	case m.look.Health.Style == paint.Warning:
		m.healthNotice(l, "! ")
	}
	return l.String()
}

// healthNotice says what is wrong with the picture, what can be done, and why it
// is so.
func (m *Model) healthNotice(l *paint.Line, glyph string) {
	h := m.look.Health
	l.Put(h.Style, glyph+h.Text)
	if h.Advice != "" {
		l.Put(paint.Muted, " — "+h.Advice)
	}
	if h.Cause != "" {
		l.Put(paint.Muted, " ("+h.Cause+")")
	}
}

func (m *Model) frozenNotice(l *paint.Line) {
	fresh := m.picture.summary.Events.Received - m.frozen.events
	l.Put(paint.Accent|paint.Bold, "FROZEN ").Put(paint.Text, "at "+m.frozen.at.In(m.cfg.Location).Format("15:04:05"))
	events := " new events"
	if fresh == 1 {
		events = " new event"
	}
	l.Put(paint.Muted, " · ").Put(paint.Text, wording.Count(fresh)).Put(paint.Muted, events+" · "+m.keyOf(action.Freeze)+" goes on")
}

// alertNotice shows the most pressing alert and how many more there are.
func (m *Model) alertNotice(l *paint.Line) {
	alerts := m.picture.summary.Alerts
	a := pressing(alerts, m.clock)
	l.Put(paint.Warning, "⚑ "+string(api.Scrub(a.Text))+pane.Due(&a, m.clock, m.cfg.Location))
	since, more := "", ""
	switch {
	case spent(a):
		since = " · since " + wording.Moment(a.Since, m.clock, m.cfg.Location)
	case !a.Since.IsZero():
		since = " · " + pane.Age(m.clock.Sub(a.Since))
	}
	if n := len(alerts) - 1; n > 0 {
		more = " · and " + wording.Count(n) + " more"
	}
	for _, tail := range []string{since, more} {
		if paint.Width(tail) < l.Left() {
			l.Put(paint.Muted, tail)
		}
	}
}

// spent reports whether an alert tells that the day's intents are used up.
func spent(a account.Alert) bool { return a.Kind == account.AlertDay && !a.Due.IsZero() }

// pressing is the alert to act on first: that nothing can be sold any more today,
// else of what comes about within soon the next, else the newest of what has come
// about, else the next of what comes about later. That an intent waits is told
// last: it can still be confirmed for long.
func pressing(alerts []account.Alert, now time.Time) account.Alert {
	urgency := func(a account.Alert) int {
		switch {
		case spent(a):
			return -1
		case !a.Due.IsZero() && a.Due.Sub(now) <= soon:
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

// soon is when there is just time left to look at an intent and to confirm it.
const soon = 2 * time.Minute

// judge has the panes say how healthy the picture is. A frozen screen says what it
// said.
func (m *Model) judge() {
	if h := m.health(); m.frozen == nil && h != m.look.Health {
		m.look.Health = h
		m.invalidate()
	}
}

// health judges the picture as a whole: the one thing that a person has to know
// of it.
func (m *Model) health() pane.Health {
	s := &m.picture.summary
	h := pane.Health{Started: m.picture.started}
	switch {
	case !h.Started:
		h.Text, h.Style = "starting…", paint.Muted
	case s.API.State == account.APIUnauthorized:
		h.Text, h.Style = "the service refuses the API key", paint.Bad
		h.Advice = m.keyAdvice()
	case s.API.State == account.APIFailing && s.Feed.State == account.FeedLost:
		h.OfRelay = true
		h.Text, h.Cause, h.Style = "neither the service nor the relay has answered"+m.since(s.API.Since), wording.Because(s.API.Err), paint.Bad
		h.Advice = m.nextTry()
		if at := m.ago(s.LastRead); at != "" {
			h.Advice = "what you see was read" + at + "; " + h.Advice
		}
	case s.Feed.State == account.FeedRefused:
		h.OfRelay = true
		h.Text, h.Cause, h.Style = "the relay refuses this dashboard", wording.Because(s.Feed.Err), paint.Bad
		h.Advice = "check TILLWATCH_RELAY_TOKEN, then start again; polling meanwhile"
	case s.Feed.State == account.FeedLost:
		h.OfRelay = true
		h.Text, h.Cause, h.Style = "relay lost"+m.ago(s.Feed.Since), wording.Because(s.Feed.Err), paint.Bad
		h.Advice = m.nextTry() + "; polling meanwhile"
	case s.API.State == account.APIFailing:
		h.Text, h.Cause, h.Style = "the service has been failing"+m.since(s.API.Since), wording.Because(s.API.Err), paint.Bad
		h.Advice = "trying again"
		if at := m.ago(s.LastRead); at != "" {
			h.Advice = "what you see was read" + at
		}
	case s.Feed.State == account.FeedConnecting:
		h.OfRelay = true
		h.Text, h.Style = "connecting to the relay…", paint.Muted
	case s.Sourceless():
		h.Text, h.Style = "intents cannot be found: no relay is configured, and the service serves no list of them", paint.Warning
		if len(s.Intents) > 0 { // the line is all that says so
			h.Text = "no relay and no list of intents: give --relay-url, --watch-id or --watch-ids"
			h.Advice = "until then, intents without shipments stay unknown"
		}
		h.Advice = "start with --relay-url to see all, with --watch-id or --watch-ids to see some, or press " +
			m.keyOf(action.Jump) + " and type an id"
	case s.Feed.State == account.FeedOff:
		h.OfRelay = true
		h.Text, h.Style = "no relay is configured: intents are found by polling alone", paint.Muted
	}
	return h
}

func (m *Model) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " " + wording.Lasting(m.clock.Sub(t)) + " ago"
}

func (m *Model) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " for " + wording.Lasting(m.clock.Sub(t))
}
