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

const (
	// every is the least time between two notifications.
	every = 30 * time.Second
	// gather is how long a notification waits for more news: what happens at the same
	// time goes into one.
	gather = 2 * time.Second
	// newsFor is the greatest age of a state that is still news when it becomes known.
	newsFor = 10 * time.Minute
	// relaySubject is the subject of the alerts about the relay.
	relaySubject = string(account.AlertRelay)
	// awaiting is before the id in the subject of an intent that awaits confirmation.
	awaiting = "awaiting "
)

// Notifier gathers news. It is not safe for concurrent use. Create it with [New].
type Notifier struct {
	method   Method
	muted    func(account.Alert) bool
	blurred  bool
	caughtUp bool            // the relay's history, which is no news, has been read
	known    map[string]bool // the subjects that stand, and whether each was not muted
	pending  []news          // oldest first
	since    time.Time       // of the oldest news; zero if there is none
	last     time.Time       // of the last notification; zero if there was none
}

// news is what a person should know about a subject: an intent, an alert, a confirm, the relay.
type news struct {
	subject, text string
	urgent        bool
}

// New returns a notifier that notifies by a method ("": not at all) of what a person has not muted. The terminal counts
// as focused until [Notifier.Blur]: one that does not report its focus is never notified.
func New(m Method, muted func(account.Alert) bool) *Notifier {
	return &Notifier{method: m, muted: muted, known: map[string]bool{}}
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
		n.observeIntent(in, c.At)
	}
	for _, id := range c.GoneIntents {
		n.over(awaiting + string(id))
	}
	standing := map[string]bool{}
	for _, a := range c.Summary.Alerts {
		subject := string(a.Kind) + string(a.Intent)
		if (a.Kind == account.AlertRelay || a.Kind == account.AlertFailed) && !standing[subject] {
			standing[subject] = true
			n.tell(news{subject: subject, text: a.Text}, n.muted(a))
		}
	}
	for _, confirm := range c.Summary.Confirms {
		if confirm.Unknown(c.At) || confirm.WasUnknown() {
			words := cmp.Or(string(confirm.Product), string(confirm.Intent)) + ": " + wording.Doubt(confirm)
			subject := confirm.Attempt + words
			standing[subject] = true
			n.tell(news{subject: subject, text: words, urgent: true}, false)
		}
	}
	for subject := range n.known {
		if !standing[subject] && !strings.HasPrefix(subject, awaiting) {
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

func (n *Notifier) observeIntent(in *account.Intent, now time.Time) {
	subject := awaiting + string(in.ID)
	if in.State != api.AwaitingConfirmation {
		n.over(subject)
		return
	}
	text := cmp.Or(string(in.Product), "An intent") + " awaits confirmation"
	if in.Total != nil {
		text += ", " + in.Total.Readable()
	}
	old := !in.Since.IsZero() && now.Sub(in.Since) > newsFor
	n.tell(news{subject: subject, text: text}, old || n.muted(account.Alert{Kind: account.AlertAwaiting, Intent: in.ID}))
}

// tell notes that a subject stands: news, if it did not before. What was muted is none later, and the relay's history
// is none.
func (n *Notifier) tell(what news, quiet bool) {
	_, stood := n.known[what.subject]
	n.known[what.subject] = !quiet
	switch {
	case quiet:
		n.drop(what.subject)
	case stood, !n.blurred:
	case what.subject == relaySubject && n.drop(relaySubject): // down again before it was told that it is back
	case n.caughtUp || what.urgent || what.subject == relaySubject:
		n.pending = append(n.pending, what)
	}
}

// over notes that a subject is no news any more. That the relay is back is, once it was told that it is down.
func (n *Notifier) over(subject string) {
	told := n.known[subject]
	delete(n.known, subject)
	if !n.drop(subject) && told && subject == relaySubject && n.blurred {
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
	if !n.blurred || len(n.pending) == 0 || n.method == "" || n.method == Off ||
		now.Sub(n.since) < gather || !n.last.IsZero() && now.Sub(n.last) < every {
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
	return n.method.sequence(strings.Join(append(urgent, other...), ", "))
}
