package recording

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Kind is what a mark on the time line is about.
type Kind string

// The kinds of marks, the most pressing last.
const (
	MarkEnd    Kind = "end"    // of a part of the recording that is damaged
	MarkAlert  Kind = "alert"  // an alert was raised
	MarkRelay  Kind = "relay"  // the relay was lost or refused
	MarkGap    Kind = "gap"    // something could not be told
	MarkFailed Kind = "failed" // an intent failed
)

// Rank orders kinds by how pressing they are; a kind that is not known ranks -1.
func (k Kind) Rank() int {
	for i, known := range [...]Kind{MarkEnd, MarkAlert, MarkRelay, MarkGap, MarkFailed} {
		if k == known {
			return i
		}
	}
	return -1
}

// Mark is a moment at which something happened that a person may look for.
type Mark struct {
	At   time.Duration // since the beginning
	Kind Kind
}

// marker finds the moments that a person may look for.
type marker struct {
	began  time.Time // what was before is no news
	failed map[api.ID]bool
	alerts map[alertKey]bool
	gaps   int
	missed int
	feed   account.FeedState
}

type alertKey struct {
	kind   account.AlertKind
	intent api.ID
	since  int64
}

// of returns the marks of a change. What the first picture shows happened before.
func (m *marker) of(c *account.Changes, first bool) []string {
	found := map[Kind]bool{}
	if m.failed == nil {
		m.failed = map[api.ID]bool{}
	}
	for _, in := range c.Intents {
		if in.State == api.Failed && !m.failed[in.ID] {
			m.failed[in.ID] = true
			if in.Since.After(m.began) {
				found[MarkFailed] = true
			}
		}
	}
	standing := make(map[alertKey]bool, len(c.Summary.Alerts))
	for _, a := range c.Summary.Alerts {
		key := alertKey{a.Kind, a.Intent, a.Since.UnixNano()}
		standing[key] = true
		if !m.alerts[key] && a.Since.After(m.began) {
			found[MarkAlert] = true
		}
	}
	down := func(s account.FeedState) bool { return s == account.FeedLost || s == account.FeedRefused }
	if down(c.Summary.Feed.State) && !down(m.feed) {
		found[MarkRelay] = true
	}
	if c.Summary.Gaps > m.gaps || c.Summary.Events.Missed > m.missed || c.EventsSkipped > 0 {
		found[MarkGap] = true
	}
	m.alerts, m.feed = standing, c.Summary.Feed.State
	m.gaps, m.missed = max(m.gaps, c.Summary.Gaps), max(m.missed, c.Summary.Events.Missed)
	if first {
		return nil
	}
	var marks []string
	for _, kind := range []Kind{MarkAlert, MarkRelay, MarkGap, MarkFailed} {
		if found[kind] {
			marks = append(marks, string(kind))
		}
	}
	return marks
}
