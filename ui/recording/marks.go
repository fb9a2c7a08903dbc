package recording

import (
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Kind is the kind of a mark on the time line.
type Kind string

// The kinds of marks, the most urgent last.
const (
	MarkEnd    Kind = "end"    // a damaged part of the recording begins
	MarkAlert  Kind = "alert"  // an alert was raised
	MarkRelay  Kind = "relay"  // the relay was lost or refused
	MarkGap    Kind = "gap"    // events were missed or skipped
	MarkFailed Kind = "failed" // an intent failed
)

// Rank orders kinds by urgency; an unknown kind ranks -1.
func (k Kind) Rank() int {
	return slices.Index([]Kind{MarkEnd, MarkAlert, MarkRelay, MarkGap, MarkFailed}, k)
}

// Mark is a moment that a person may search for.
type Mark struct {
	At   time.Duration // since the beginning of the recording
	Kind Kind
}

// marker finds the marks of changes.
type marker struct {
	began  time.Time // what happened earlier is not marked
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

// of returns the marks of a change. The first picture has none.
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
	for _, id := range c.GoneIntents {
		delete(m.failed, id)
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
