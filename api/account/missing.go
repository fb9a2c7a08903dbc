package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// missing holds the events that reads give reason to expect. They count as missed once overdue.
type missing struct {
	feed      *following
	counters  *EventCounters
	window    time.Duration // the confirm window
	overdue   time.Duration // how long an event may take
	intents   map[api.ID][]expectation
	shipments map[api.ID]*shipmentDebt
	silence   silence
}

// expectation is a state that a read found and an event should report.
type expectation struct {
	state   api.IntentState
	learnt  time.Time
	counted bool // counted as missed
}

func newMissing(feed *following, counters *EventCounters, window, overdue time.Duration) missing {
	return missing{
		feed: feed, counters: counters, window: window, overdue: overdue,
		intents: map[api.ID][]expectation{}, shipments: map[api.ID]*shipmentDebt{},
	}
}

// expect records that a read found an intent in another state, which an event should report. Creation, confirm and
// expiry have no event. Nothing is expected from before the intent became known, unless it was created after
// events were first heard.
func (m *missing) expect(in *IntentDetail, from api.IntentState, now time.Time) {
	before := from == "" && m.feed.unheard(in.CreatedAt)
	if m.feed.State == FeedOff || before || !m.hasEvent(in, from, now) {
		return
	}
	m.intents[in.ID] = append(m.intents[in.ID], expectation{state: in.State, learnt: now})
}

// hasEvent reports whether the move has an event that has not arrived yet.
func (m *missing) hasEvent(in *IntentDetail, from api.IntentState, now time.Time) bool {
	seen := in.basis.seen
	switch in.State {
	case api.AwaitingConfirmation:
		return (from == api.RetrievingOffer || from == "") && seen&sawOfferRetrieved == 0
	case api.Completed:
		return seen&sawCompleted == 0
	case api.Failed:
		if seen&(sawOfferFailed|sawOrderFailed) != 0 {
			return false
		}
		expired := in.Failure != nil && in.Failure.Code == api.Expired
		closed := from == api.AwaitingConfirmation && !in.CreatedAt.IsZero() && !now.Before(in.CreatedAt.Add(m.window))
		return !expired && !closed
	}
	return false
}

// arrived settles the expectation of an event that has arrived.
func (m *missing) arrived(id api.ID, t api.EventType) {
	state, proves := t.ProvenState()
	if t == api.OfferFailed {
		state, proves = api.Failed, true
	}
	expected := m.intents[id]
	if !proves || len(expected) == 0 {
		return
	}
	left := slices.DeleteFunc(expected, func(e expectation) bool {
		if e.state == state && e.counted {
			m.counters.Missed--
		}
		return e.state == state
	})
	if m.intents[id] = left; len(left) == 0 {
		delete(m.intents, id)
	}
}

// count counts overdue events, if the feed has been live long enough to bring them, and calls missedIntent or
// missedShipment for each. An event that arrives after all is counted back.
func (m *missing) count(now, lastEvent time.Time, missedIntent func(id api.ID, to api.IntentState), missedShipment func(id api.ID)) {
	if m.feed.State != FeedLive || now.Sub(m.feed.Since) < m.overdue {
		return
	}
	for id, expected := range m.intents {
		for i := range expected {
			e := &expected[i]
			if e.counted || now.Sub(e.learnt) < m.overdue {
				continue
			}
			e.counted = true
			m.counters.Missed++
			m.silence.add(lastEvent)
			missedIntent(id, e.state)
		}
	}
	for id, d := range m.shipments {
		if d.counted == d.owed || now.Sub(d.learnt) < m.overdue {
			continue
		}
		m.counters.Missed += d.owed - d.counted
		d.counted = d.owed
		m.silence.add(lastEvent)
		missedShipment(id)
	}
}

// silence counts changes that no event reported since the last event.
type silence struct {
	after time.Time // the event
	count int
}

func (s *silence) add(lastEvent time.Time) {
	s.count = s.lasts(lastEvent) + 1
	s.after = lastEvent
}

func (s *silence) lasts(lastEvent time.Time) int {
	if !s.after.Equal(lastEvent) {
		return 0
	}
	return s.count
}
