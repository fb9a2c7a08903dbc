// Package notify decides what a person whose terminal is not focused should be notified
// of, and returns the sequences that make the terminal do so. It writes nothing itself.
package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Config configures a [Notifier].
type Config struct {
	Method Method                   // how to notify; "": not at all
	Every  time.Duration            // the least time between two notifications; default 30 s
	Muted  func(account.Alert) bool // whether a person has muted an alert; nil: none is muted
}

const (
	// gather is how long a notification waits for more news: what happens at the same
	// time goes into one.
	gather = 2 * time.Second
	// newsFor is the greatest age of a state that is still news when it becomes known.
	newsFor = 10 * time.Minute
	// relaySubject is the subject of the alerts about the relay.
	relaySubject = "relay"
)

// Notifier gathers news. It is not safe for concurrent use. Create it with [New].
type Notifier struct {
	cfg      Config
	blurred  bool
	caughtUp bool              // the relay's history, which is no news, has been read
	known    map[string]string // what was last known of each subject: an intent, an alert, a confirm, the relay
	pending  []news            // oldest first
	since    time.Time         // of the oldest news; zero if there is none
	last     time.Time         // of the last notification; zero if there was none
}

// news is what a person should know about a subject.
type news struct {
	subject, text string
	urgent        bool
}

// New returns a notifier. The terminal counts as focused until [Notifier.Blur]: one that
// does not report its focus is never notified.
func New(cfg Config) *Notifier {
	cfg.Every = cmp.Or(max(cfg.Every, 0), 30*time.Second)
	if cfg.Muted == nil {
		cfg.Muted = func(account.Alert) bool { return false }
	}
	return &Notifier{cfg: cfg, known: map[string]string{}}
}

// Focus notes that the terminal has the focus, and drops the gathered news: the screen
// shows it.
func (n *Notifier) Focus() { n.blurred, n.pending, n.since = false, nil, time.Time{} }

// Blur notes that the terminal has lost the focus.
func (n *Notifier) Blur() { n.blurred = true }

// Observe gathers news: an intent that newly awaits confirmation, the alerts of one that failed and of the relay, a
// confirm whose outcome is unknown, and how that ended. It drops news that is muted, or over before the notification.
func (n *Notifier) Observe(c *account.Changes) {
	for _, in := range c.Intents {
		n.awaits(in, c.At)
	}
	for _, id := range c.GoneIntents {
		n.over(string(id))
	}
	standing := map[string]bool{}
	for _, a := range c.Summary.Alerts {
		subject := string(a.Kind) + string(a.Intent)
		if (a.Kind == account.AlertRelay || a.Kind == account.AlertFailed) && !standing[subject] {
			standing[subject] = true
			n.tell(news{subject: subject, text: a.Text}, string(a.Kind), n.cfg.Muted(a))
		}
	}
	for _, confirm := range c.Summary.Confirms {
		if confirm.Unknown(c.At) || confirm.WasUnknown() {
			words := cmp.Or(string(confirm.Product), string(confirm.Intent)) + ": " + wording.Doubt(confirm)
			standing[confirm.Attempt] = true
			n.tell(news{subject: confirm.Attempt, text: words, urgent: true}, words, false)
		}
	}
	for subject, known := range n.known {
		if !standing[subject] && !strings.HasPrefix(known, string(api.AwaitingConfirmation)) {
			n.over(subject)
		}
	}
	switch c.Summary.Feed.State {
	case account.FeedLive, account.FeedLost, account.FeedRefused, account.FeedOff:
		n.caughtUp = true
	}
	if len(n.pending) == 0 {
		n.since = time.Time{}
	} else if n.since.IsZero() {
		n.since = c.At
	}
}

// awaits follows an intent, which may await confirmation.
func (n *Notifier) awaits(in *account.Intent, now time.Time) {
	if in.State != api.AwaitingConfirmation {
		n.over(string(in.ID))
		return
	}
	text := cmp.Or(string(in.Product), "An intent") + " awaits confirmation"
	if in.Total != nil {
		text += ", " + in.Total.Readable()
	}
	old := !in.Since.IsZero() && now.Sub(in.Since) > newsFor
	muted := n.cfg.Muted(account.Alert{Kind: account.AlertAwaiting, Intent: in.ID})
	n.tell(news{subject: string(in.ID), text: text}, string(in.State), old || muted)
}

// tell notes what is known of a subject: news, if it was not known before. The relay's history is none.
func (n *Notifier) tell(what news, known string, passOver bool) {
	if passOver {
		known += " quietly"
	}
	was := n.known[what.subject]
	if n.known[what.subject] = known; was == known {
		return
	}
	dropped := n.drop(what.subject)
	switch {
	case passOver, !n.blurred, strings.HasPrefix(was, known): // or no longer muted, which is no news
	case what.subject == relaySubject && dropped: // down again before it was told that it is back
	case n.caughtUp || what.urgent || what.subject == relaySubject:
		n.pending = append(n.pending, what)
	}
}

// over notes that a subject is no news any more. That the relay is back is, once it was told that it is down.
func (n *Notifier) over(subject string) {
	was := n.known[subject]
	delete(n.known, subject)
	if !n.drop(subject) && was == relaySubject && n.blurred {
		n.pending = append(n.pending, news{subject: subject, text: "the relay is back"})
	}
}

// drop drops the news about a subject, and reports whether there was any.
func (n *Notifier) drop(subject string) bool {
	before := len(n.pending)
	n.pending = slices.DeleteFunc(n.pending, func(p news) bool { return p.subject == subject })
	return len(n.pending) < before
}

// Take returns the sequence for the gathered news once it is due; "" if there is nothing
// to write. All that is urgent is in it, and of the rest the first.
func (n *Notifier) Take(now time.Time) string {
	if !n.blurred || len(n.pending) == 0 || n.cfg.Method == "" || n.cfg.Method == Off ||
		now.Sub(n.since) < gather || !n.last.IsZero() && now.Sub(n.last) < n.cfg.Every {
		return ""
	}
	var urgent, other []string
	for _, p := range n.pending {
		if p.urgent {
			urgent = append(urgent, p.text)
		} else {
			other = append(other, p.text)
		}
	}
	if len(other) > 1 {
		other = []string{other[0], fmt.Sprintf("and %s more", wording.Count(len(other)-1))}
	}
	n.pending, n.since, n.last = nil, time.Time{}, now
	return n.cfg.Method.sequence(strings.Join(append(urgent, other...), ", "))
}
