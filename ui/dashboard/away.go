package dashboard

import (
	"slices"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// away tracks when nobody looks: the terminal lost the focus, the screen is frozen,
// neither key nor mouse was used for a while, or tillwatch was not running. It marks
// where the user left off, and reports what happened since.
type away struct {
	cfg      *Config
	picture  *picture
	alerting *alerting
	intents  *pane.Intents

	used    time.Time // last use of key or mouse, or focus
	absence absence   // the current or last one
	lasts   bool
	before  absence // the one before it
	line    string  // the notice line about the last one; "" for none
	until   time.Time

	outages []outage // of the feed, in this run, newest last
	gaps    []time.Time
	counted int // gaps, so far
}

// absence is a time in which nobody looked.
type absence struct {
	from, to time.Time // to is zero while it lasts
	why      reason
}

// reason is why nobody looked.
type reason string

const (
	unfocused  reason = "the terminal was not focused"
	stoodStill reason = "the screen was frozen"
	idle       reason = "no key was pressed and no mouse moved"
	closed     reason = "tillwatch was not running"
)

// outage is a time without the relay. to is zero while it lasts.
type outage struct{ from, to time.Time }

const (
	// glimpse is how short an absence may be without counting.
	glimpse = 10 * time.Second
	// backFor is how long the notice line reports an absence.
	backFor = time.Minute
	// mostOutages limits the recorded outages and gaps.
	mostOutages = 200
)

func newAway(cfg *Config, picture *picture, alerting *alerting, board *board) *away {
	a := &away{cfg: cfg, picture: picture, alerting: alerting, intents: board.intents, used: cfg.Now()}
	a.absence.from = a.used
	if looked := alerting.memory.Looked; !looked.IsZero() && looked.Before(a.used) && cfg.Transport == nil {
		a.leave(closed, looked)
	}
	return a
}

// leave records that nobody looks from now on, and marks the place.
func (a *away) leave(why reason, at time.Time) {
	if a.lasts || a.cfg.Transport != nil {
		return
	}
	a.before, a.absence, a.lasts, a.line = a.absence, absence{from: at, why: why}, true, ""
	a.intents.SetUnseen(at)
	if why != closed {
		a.alerting.change(func(m *attention.Memory) { m.See(at, a.cfg.Now()) })
	}
}

// use records that somebody looks: by a key, the mouse or the focus.
func (a *away) use(now time.Time) {
	a.used = now
	if a.lasts && (a.absence.why == unfocused || a.absence.why == idle) {
		a.back(now)
	}
}

// back ends an absence, and reports in a line what happened meanwhile.
func (a *away) back(now time.Time) {
	if !a.lasts {
		return
	}
	a.lasts, a.absence.to, a.used = false, now, now
	if now.Sub(a.absence.from) < glimpse {
		a.absence = a.before
		a.intents.SetUnseen(time.Time{})
		if a.absence.why != "" {
			a.intents.SetUnseen(a.absence.from)
		}
		return
	}
	if d := a.digest(now); d.any() {
		a.line, a.until = "away "+wording.Age(now.Sub(a.absence.from))+": "+d.short()+" · "+a.cfg.Actions.KeyOf(action.Digest), now.Add(backFor)
	}
}

// frozen records that the screen was frozen or goes on.
func (a *away) frozen(holds bool, now time.Time) {
	if holds {
		a.leave(stoodStill, now)
	} else if a.absence.why == stoodStill {
		a.back(now)
	}
}

// tick notices that nobody has done anything for a long time.
func (a *away) tick(now time.Time) {
	if a.cfg.IdleAfter > 0 && now.Sub(a.used) >= a.cfg.IdleAfter {
		a.leave(idle, a.used)
	}
	if a.line != "" && !now.Before(a.until) {
		a.line = ""
	}
}

// observe follows the feed, and ends the absence between runs once the missed events
// are known.
func (a *away) observe(now time.Time) {
	feed := a.picture.summary.Feed.State
	lost := feed == account.FeedLost || feed == account.FeedRefused
	last := len(a.outages) - 1
	open := last >= 0 && a.outages[last].to.IsZero()
	switch {
	case lost && !open:
		a.outages = append(a.outages, outage{from: now})
		a.outages = a.outages[max(len(a.outages)-mostOutages, 0):]
	case open && feed == account.FeedLive:
		a.outages[last].to = now
	}
	gaps := max(a.picture.summary.Gaps, a.counted)
	a.gaps = append(a.gaps, slices.Repeat([]time.Time{now}, min(gaps-a.counted, mostOutages))...)
	a.gaps, a.counted = a.gaps[max(len(a.gaps)-mostOutages, 0):], gaps
	caughtUp := lost || feed == account.FeedLive || feed == account.FeedOff
	if a.lasts && a.absence.why == closed && a.picture.started && caughtUp {
		a.back(now)
	}
}

// seen records, at the end, when somebody last looked.
func (a *away) seen(now time.Time) {
	if !a.lasts && a.cfg.Transport == nil {
		a.alerting.change(func(m *attention.Memory) { m.See(now, now) })
	}
}

// notice returns the notice about the last absence.
func (a *away) notice() string { return a.line }

// read records that the digest was read, and removes the marks.
func (a *away) read() {
	a.line = ""
	if !a.lasts {
		a.intents.SetUnseen(time.Time{})
	}
}

// alertSpan is when one of this run's alerts was raised and ended.
type alertSpan struct {
	account.Alert
	over time.Time // zero while it is raised
}

// mostSpans limits the recorded spans; the oldest are dropped first.
const mostSpans = 1000

// follow records when alerts were raised and ended.
func (a *alerting) follow(alerts []account.Alert, stands map[attention.Key]bool, now time.Time) {
	for i := range a.spans {
		if span := &a.spans[i]; span.over.IsZero() && !stands[attention.KeyOf(span.Alert)] {
			span.over = now
		}
	}
	for _, alert := range alerts {
		if !a.stood[attention.KeyOf(alert)] {
			a.spans = append(a.spans, alertSpan{Alert: alert})
		}
	}
	if len(a.spans) > mostSpans {
		a.spans = slices.Clone(a.spans[len(a.spans)-mostSpans:])
	}
}
