package account

import (
	"maps"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Changes is what has changed since a version: the one thing that a screen or a
// command reads. It is immutable and cheap: its size is that of the change.
type Changes struct {
	Version       uint64 // pass it to the next call
	At            time.Time
	Whole         bool        // nothing that was told before holds any more: this is all there is
	Intents       []*Intent   // changed, each once; [Store.Intent] tells all of one
	Shipments     []*Shipment // changed, each once
	Events        []*Event    // new ones and ones that changed, oldest first
	EventsSkipped int         // new events that are no longer kept
	Requests      []api.Exchange
	Summary       Summary
}

// Changes returns what changed after version since; 0 gives the whole picture.
func (s *Store) Changes(since uint64) Changes {
	now := time.Now()
	buckets := s.buckets(now)

	s.mu.Lock()
	c := Changes{
		Version:  s.version,
		At:       now,
		Whole:    since == 0,
		Requests: s.requests.since(since),
		Summary:  s.summary(now, buckets),
	}
	intents, moreIntents := s.intentTouches.since(since)
	shipments, moreShipments := s.shipmentTouches.since(since)
	events, first := s.events.since(since), s.events.bornAfter(since)
	c.EventsSkipped = int(max(s.events.oldest(), first) - first)
	alerts := s.alerts.look()
	s.mu.Unlock()

	c.Intents = s.publishIntents(since, intents, moreIntents)
	c.Shipments = s.publishShipments(since, shipments, moreShipments)
	var gone int
	c.Events, gone = s.publishEvents(events, first)
	c.EventsSkipped += gone
	c.Summary.Alerts = s.listAlerts(alerts)
	return c
}

// Summary is the small part of the picture that is always told whole.
type Summary struct {
	Intents   map[api.IntentState]int    `json:"intents"`           // states that the contract does not list count under ""
	NotRead   int                        `json:"notRead,omitempty"` // intents of which nothing is known but that they exist
	Shipments map[api.ShipmentStatus]int `json:"shipments"`
	Quota     []quota.Bucket             `json:"quota,omitempty"`
	Day       DayCount                   `json:"day,omitzero"`
	Agents    AgentCount                 `json:"agents,omitzero"`
	Feed      FeedStatus                 `json:"feed,omitzero"`
	Gaps      int                        `json:"gaps,omitempty"` // how often the feed could not tell everything
	API       APIStatus                  `json:"api,omitzero"`
	Events    EventCounters              `json:"events,omitzero"`
	Reads     ReadCounters               `json:"reads,omitzero"`
	Pace      map[api.IntentState]Pace   `json:"pace,omitempty"`     // how long intents of this account stay in a state
	Alerts    []Alert                    `json:"alerts,omitempty"`   // the longest standing first
	LastEvent time.Time                  `json:"lastEvent,omitzero"` // when the newest event was received; zero when none
	LastRead  time.Time                  `json:"lastRead,omitzero"`  // when the newest read was answered; zero when none
	List      ListStatus                 `json:"list,omitzero"`      // of the service, where it has one

	ShipmentList ListStatus `json:"shipmentList,omitzero"`

	Named bool `json:"named,omitempty"` // somebody has named intents to be watched
}

// Sourceless reports whether nothing tells which intents there are: at most those
// that have shipments become known.
func (s *Summary) Sourceless() bool {
	return s.Feed.State == FeedOff && s.List.State == ListNotServed && !s.Named
}

// IntentsKnown reports whether the counts of intents are all that there are: while
// they are not, a state without any is unknown, not empty.
func (s *Summary) IntentsKnown() bool {
	switch s.List.State {
	case ListWhole, ListCut:
		return true
	}
	return s.fed() || s.Named && !s.LastRead.IsZero()
}

// ShipmentsKnown is [Summary.IntentsKnown] for the counts of shipments.
func (s *Summary) ShipmentsKnown() bool { return s.ShipmentList.State != ListUnread || s.fed() }

// fed reports whether events have told what there is.
func (s *Summary) fed() bool { return s.Feed.State == FeedLive || !s.LastEvent.IsZero() }

// Summary returns the small part of the picture alone.
func (s *Store) Summary() Summary {
	now := time.Now()
	buckets := s.buckets(now)
	s.mu.Lock()
	sum, alerts := s.summary(now, buckets), s.alerts.look()
	s.mu.Unlock()
	sum.Alerts = s.listAlerts(alerts)
	return sum
}

func (s *Store) buckets(now time.Time) []quota.Bucket {
	if s.cfg.Quota == nil {
		return nil
	}
	return s.cfg.Quota(now)
}

// summary is the summary but for its alerts.
func (s *Store) summary(now time.Time, buckets []quota.Bucket) Summary {
	return Summary{
		Intents:   s.intentCounts.listed(),
		NotRead:   s.intentCounts[""],
		Shipments: maps.Clone(s.shipmentCounts),
		Quota:     buckets,
		Day:       s.dayCount(buckets, now),
		Agents:    s.agentCount(),
		Feed:      s.feed,
		Gaps:      s.gaps,
		API:       s.health,
		Events:    s.counters,
		Reads:     s.reads,
		Pace:      s.paces(),
		LastEvent: s.lastEvent,
		LastRead:  s.lastRead,
		List:      s.list,

		ShipmentList: s.shipmentList,

		Named: s.named,
	}
}

// AgentCount is how many intents are known to be placing, of the cap; 0 stands for
// a cap that is not known.
type AgentCount struct {
	Placing int `json:"placing"`
	Limit   int `json:"limit"`
}

// agentCount knows the cap by assumption: while it is passed it is not known.
func (s *Store) agentCount() AgentCount {
	count := AgentCount{Placing: s.intentCounts[api.PlacingOrder], Limit: s.cfg.AgentsLimit}
	if count.Placing > count.Limit {
		count.Limit = 0
	}
	return count
}

// EventCounters count what became of events.
type EventCounters struct {
	Received   int `json:"received"`   // each event once
	Duplicate  int `json:"duplicate"`  // deliveries of an event that was there already
	Late       int `json:"late"`       // events that came after one that was created later
	Missed     int `json:"missed"`     // state changes that a read found and no event has told
	Backfilled int `json:"backfilled"` // events that the relay fetched, because no webhook brought them
}

// ReadCounters relate reads to what they found.
type ReadCounters struct {
	Total        int `json:"total"`                // answered reads of intents and shipments, a list of shipments counting once
	Reconciled   int `json:"reconciled,omitempty"` // of them, those that nothing but time called for, to be sure that no event was lost
	Failed       int `json:"failed,omitempty"`     // reads that failed
	Behind       int `json:"behind,omitempty"`     // reads that were behind what an event had proven
	StateChanges int `json:"stateChanges"`         // changes of an intent's state or a shipment's status that became known
}

// PerStateChange is how many reads one known change has cost; 0 before the first.
// Reads to be sure are left out: they follow the clock, not the changes.
func (c ReadCounters) PerStateChange() float64 {
	if c.StateChanges == 0 {
		return 0
	}
	return float64(c.Total-c.Reconciled) / float64(c.StateChanges)
}
