// Package notify decides what a person whose terminal is not focused should be notified
// of, and returns the sequences that make the terminal do so. It writes nothing itself.
package notify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Config configures a [Notifier].
type Config struct {
	Method Method        // how to notify; "": not at all
	Every  time.Duration // the least time between two notifications; default 30 s

	Muted func(account.Alert) bool // whether a person has muted an alert; nil: none is muted
}

const (
	// gather is how long a notification waits for more news: what happens at the same
	// time goes into one.
	gather = 2 * time.Second
	// newsFor is the greatest age of a state that is still news when it becomes known.
	newsFor = 10 * time.Minute
)

// Notifier gathers news. It is not safe for concurrent use. Create it with [New].
type Notifier struct {
	cfg      Config
	blurred  bool
	caughtUp bool                       // the relay's history, which is no news, has been read
	seen     map[api.ID]api.IntentState // states of the intents that await confirmation or failed
	down     bool                       // there is an alert about the relay
	quiet    bool                       // that alert is muted, or was when it last existed

	told     map[string]string  // of each confirm, by attempt, what was last news
	confirms []*account.Confirm // that are news, oldest first

	pending []news // oldest first
	relay   relayNews
	since   time.Time // of the oldest news; zero if there is none
	last    time.Time // of the last notification; zero if there was none
}

// news is an intent in a state that a person should know about.
type news struct {
	id    api.ID
	state api.IntentState
	text  string
}

// relayNews is a change of the relay since the last notification.
type relayNews uint8

const (
	relayAsBefore relayNews = iota
	relayDown
	relayBack
)

// New returns a notifier. The terminal counts as focused until [Notifier.Blur]: one that
// does not report its focus is never notified.
func New(cfg Config) *Notifier {
	if cfg.Every <= 0 {
		cfg.Every = 30 * time.Second
	}
	if cfg.Muted == nil {
		cfg.Muted = func(account.Alert) bool { return false }
	}
	return &Notifier{cfg: cfg, seen: map[api.ID]api.IntentState{}, told: map[string]string{}}
}

// Focus notes that the terminal has the focus, and drops the gathered news: the screen
// shows it.
func (n *Notifier) Focus() {
	n.blurred = false
	n.forget()
}

// Blur notes that the terminal has lost the focus.
func (n *Notifier) Blur() { n.blurred = true }

// Observe gathers news: an intent that newly awaits confirmation, one that failed, a
// relay that is lost or back. It drops news that is muted, or that changed again before
// the notification.
func (n *Notifier) Observe(c *account.Changes) {
	for _, in := range c.Intents {
		n.intent(in, c.At)
	}
	for _, id := range c.GoneIntents {
		delete(n.seen, id)
	}
	n.confirmed(c)
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

// confirmed gathers confirms whose outcome is unknown, and how they ended.
func (n *Notifier) confirmed(c *account.Changes) {
	for _, confirm := range c.Summary.Confirms {
		words, news := confirmWords(confirm, c.At)
		if !news || n.told[confirm.Attempt] == words {
			continue
		}
		n.told[confirm.Attempt] = words
		n.confirms = slices.DeleteFunc(n.confirms, func(a *account.Confirm) bool { return a.Attempt == confirm.Attempt })
		if n.blurred {
			n.confirms = append(n.confirms, confirm)
		}
	}
	for attempt := range n.told {
		if !slices.ContainsFunc(c.Summary.Confirms, func(a *account.Confirm) bool { return a.Attempt == attempt }) {
			delete(n.told, attempt)
		}
	}
}

// confirmWords says how a confirm stands; news is false if its outcome was never in doubt.
func confirmWords(c *account.Confirm, now time.Time) (words string, news bool) {
	return cmp.Or(string(c.Product), string(c.Intent)) + ": " + wording.Doubt(c), c.Unknown(now) || c.WasUnknown()
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

// sentence describes one intent.
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

// relayChanged follows the alert about the relay, which is raised only after the relay
// has been gone for a while.
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
	case n.quiet, n.relay != relayAsBefore: // it changed twice: as in the last notification
		n.relay = relayAsBefore
	case down:
		n.relay = relayDown
	default:
		n.relay = relayBack
	}
}

// Take returns the sequence for the gathered news once it is due; "" if there is nothing
// to write.
func (n *Notifier) Take(now time.Time) string {
	if !n.blurred || !n.any() || n.cfg.Method == "" || n.cfg.Method == Off {
		return ""
	}
	if now.Sub(n.since) < gather || !n.last.IsZero() && now.Sub(n.last) < n.cfg.Every {
		return ""
	}
	text := n.text(now)
	n.forget()
	n.last = now
	return n.cfg.Method.sequence(text)
}

// text returns a sentence about one intent, or the counts of several.
func (n *Notifier) text(now time.Time) string {
	var parts []string
	for _, c := range n.confirms {
		words, _ := confirmWords(c, now)
		parts = append(parts, words)
	}
	if len(n.pending) == 1 {
		parts = append(parts, n.pending[0].text)
	} else {
		parts = append(parts, n.counts()...)
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
	switch {
	case failed > 0 && awaiting == 0: // two at least: one alone is described
		parts = append(parts, wording.Count(failed)+" intents failed")
	case failed > 0:
		parts = append(parts, wording.Count(failed)+" failed")
	}
	return parts
}

func (n *Notifier) any() bool { return len(n.confirms)+len(n.pending) > 0 || n.relay != relayAsBefore }

func (n *Notifier) forget() {
	n.confirms, n.pending, n.relay, n.since = nil, nil, relayAsBefore, time.Time{}
}
