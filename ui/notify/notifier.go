// Package notify decides what is worth telling a person whose terminal is not
// focused, and how a terminal is told. It writes nothing itself: it returns the
// sequences to write.
package notify

import (
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Config sets a notifier up.
type Config struct {
	Method Method        // how to tell; the zero Method tells nothing
	Every  time.Duration // at most one notification in this time; default 30 s

	Muted func(account.Alert) bool // whether a person has muted it: then nothing is told of it; nil: none is
}

const (
	// gather is how long more is waited for before a notification: what happens
	// at once is told at once.
	gather = 2 * time.Second
	// newsFor is how old a state may be to be news when it becomes known.
	newsFor = 10 * time.Minute
)

// Notifier gathers what is worth telling. It is to be used from one goroutine.
type Notifier struct {
	cfg      Config
	blurred  bool
	caughtUp bool                       // the relay's history is no news
	seen     map[api.ID]api.IntentState // of the intents in a state that is worth telling
	down     bool                       // the relay's alert stands
	quiet    bool                       // it is muted, or was when it stood last

	pending []news // in the order in which they came
	relay   relayNews
	since   time.Time // when the oldest came; zero when there is none
	last    time.Time // of the last notification
}

// news is an intent in a state that a person should know of.
type news struct {
	id    api.ID
	state api.IntentState
	text  string
}

// relayNews is what became of the relay.
type relayNews uint8

const (
	relayAsBefore relayNews = iota
	relayDown
	relayBack
)

// New makes a notifier. The terminal counts as focused until [Notifier.Blur]: one
// that cannot tell is never disturbed.
func New(cfg Config) *Notifier {
	if cfg.Every <= 0 {
		cfg.Every = 30 * time.Second
	}
	if cfg.Muted == nil {
		cfg.Muted = func(account.Alert) bool { return false }
	}
	return &Notifier{cfg: cfg, seen: map[api.ID]api.IntentState{}}
}

// Focus notes that the terminal is looked at: what was gathered is on it.
func (n *Notifier) Focus() {
	n.blurred = false
	n.forget()
}

// Blur notes that the terminal is not looked at.
func (n *Notifier) Blur() { n.blurred = true }

// Observe gathers what is worth telling: an intent that newly awaits
// confirmation, one that failed, a relay that is down or up again. What has
// changed again before it was told is dropped, and so is what is muted.
func (n *Notifier) Observe(c *account.Changes) {
	for _, in := range c.Intents {
		n.intent(in, c.At)
	}
	for _, id := range c.GoneIntents {
		delete(n.seen, id)
	}
	n.relayChanged(c)
	switch c.Summary.Feed.State {
	case account.FeedLive, account.FeedLost, account.FeedRefused, account.FeedOff:
		n.caughtUp = true
	}
	if !n.any() {
		n.since = time.Time{}
	} else if n.since.IsZero() {
		n.since = c.At
	}
}

func (n *Notifier) intent(in *account.Intent, now time.Time) {
	worth := in.State == api.AwaitingConfirmation || in.State == api.Failed
	if worth && n.seen[in.ID] == in.State {
		return
	}
	n.pending = slices.DeleteFunc(n.pending, func(p news) bool { return p.id == in.ID })
	if !worth {
		delete(n.seen, in.ID)
		return
	}
	n.seen[in.ID] = in.State
	old := !in.Since.IsZero() && now.Sub(in.Since) > newsFor
	kind := account.AlertAwaiting
	if in.State == api.Failed {
		kind = account.AlertFailed
	}
	if n.blurred && n.caughtUp && !old && !n.cfg.Muted(account.Alert{Kind: kind, Intent: in.ID}) {
		n.pending = append(n.pending, news{in.ID, in.State, sentence(in)})
	}
}

// sentence tells of one intent alone.
func sentence(in *account.Intent) string {
	name := string(in.Product)
	if name == "" {
		name = "An intent"
	}
	if in.State == api.Failed {
		return name + " failed"
	}
	if in.Total == nil {
		return name + " awaits confirmation"
	}
	return name + " awaits confirmation, " + in.Total.Readable()
}

// relayChanged follows the alert of the relay, which is raised only once the
// relay has been gone for a while.
func (n *Notifier) relayChanged(c *account.Changes) {
	down, quiet := false, true
	for _, a := range c.Summary.Alerts {
		if a.Kind == account.AlertRelay {
			down, quiet = true, quiet && n.cfg.Muted(a)
		}
	}
	if down {
		n.quiet = quiet
	}
	if down == n.down {
		return
	}
	n.down = down
	switch {
	case !n.blurred:
	case n.quiet, n.relay != relayAsBefore: // down and up again, or the other way: as it was told last
		n.relay = relayAsBefore
	case down:
		n.relay = relayDown
	default:
		n.relay = relayBack
	}
}

// Take returns the sequence that tells what was gathered, once it is due; "" when
// there is nothing to write.
func (n *Notifier) Take(now time.Time) string {
	if !n.blurred || !n.any() || n.cfg.Method == "" || n.cfg.Method == Off {
		return ""
	}
	if now.Sub(n.since) < gather || !n.last.IsZero() && now.Sub(n.last) < n.cfg.Every {
		return ""
	}
	text := n.text()
	n.forget()
	n.last = now
	return n.cfg.Method.sequence(text)
}

// text is a sentence about one thing, or counts of several.
func (n *Notifier) text() string {
	var parts []string
	if len(n.pending) == 1 {
		parts = append(parts, n.pending[0].text)
	} else {
		parts = n.counts()
	}
	switch n.relay {
	case relayDown:
		parts = append(parts, "the relay cannot be reached")
	case relayBack:
		parts = append(parts, "the relay is back")
	}
	return strings.Join(parts, ", ")
}

func (n *Notifier) counts() []string {
	awaiting := 0
	for _, p := range n.pending {
		if p.state == api.AwaitingConfirmation {
			awaiting++
		}
	}
	failed := len(n.pending) - awaiting
	var parts []string
	if awaiting > 0 {
		parts = append(parts, wording.Counted(awaiting, "intent awaits", "intents await")+" confirmation")
	}
	if failed > 0 {
		parts = append(parts, wording.Count(failed)+" failed")
	}
	return parts
}

func (n *Notifier) any() bool { return len(n.pending) > 0 || n.relay != relayAsBefore }

func (n *Notifier) forget() {
	n.pending, n.relay, n.since = nil, relayAsBefore, time.Time{}
}
