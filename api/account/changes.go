package account

import (
	"maps"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Changes is what changed since a version: all that screens and commands read. It is immutable, and its cost is
// proportional to the change.
type Changes struct {
	Version       uint64      // pass it to the next call of [Store.Changes]
	At            time.Time   // when they were taken
	Whole         bool        // this is the whole picture: discard everything earlier
	Intents       []*Intent   // that changed, each once; [Store.Intent] returns the details
	Shipments     []*Shipment // that changed, each once
	GoneIntents   []api.ID    // dropped, because they ended long ago
	GoneShipments []api.ID    // dropped with their intents
	Events        []*Event    // new or changed, oldest first
	EventsSkipped int         // new events that were dropped already
	Requests      []api.Exchange
	Summary       Summary
}

// Changes returns what changed after version since; 0 returns the whole picture.
func (s *Store) Changes(since uint64) Changes {
	now := time.Now()
	buckets := s.buckets(now)

	s.mu.Lock()
	defer s.mu.Unlock()
	c := changesSince(since, &s.intents.table, &s.shipments.table, &s.events, &s.requests)
	c.At, c.Summary = now, s.summary(now, buckets)
	return c
}

// changesSince returns what changed after a version, without the time and the summary.
func changesSince(since uint64, in *table[IntentDetail], sh *table[Shipment], ev *events, rq *requestLog) Changes {
	c := Changes{Version: in.news.version}
	var all, allShipments bool
	c.GoneIntents, all = in.goneSince(since)
	c.GoneShipments, allShipments = sh.goneSince(since)
	if c.Whole = since == 0 || !all || !allShipments; c.Whole {
		since, c.GoneIntents, c.GoneShipments = 0, nil, nil
	}
	c.Shipments, c.Requests = sh.since(since), rq.since(since)
	c.Events, c.EventsSkipped = ev.since(since)
	for _, i := range in.since(since) {
		c.Intents = append(c.Intents, &i.Intent)
	}
	return c
}

// Summary is the small part of the picture that every [Changes] holds in full.
type Summary struct {
	Intents   map[api.IntentState]int    `json:"intents"`           // states that the contract does not list count as ""
	NotRead   int                        `json:"notRead,omitempty"` // intents of which only the id is known
	NeverRead int                        `json:"unread,omitempty"`  // intents that no read has shown; those NotRead among them
	LetGo     int                        `json:"letGo,omitempty"`   // ended or long lapsed intents dropped in this run
	Shipments map[api.ShipmentStatus]int `json:"shipments"`
	Quota     []quota.Bucket             `json:"quota,omitempty"`
	Limits    []Limit                    `json:"limits,omitempty"`   // of the account, the contract's five first
	Spenders  []Spender                  `json:"spenders,omitempty"` // tillwatch by purpose, observed callers, the rest; at most 22
	Day       DayCount                   `json:"day,omitzero"`
	Agents    AgentCount                 `json:"agents,omitzero"`
	Feed      FeedStatus                 `json:"feed,omitzero"`
	Gaps      int                        `json:"gaps,omitempty"` // how often the feed lost events
	API       APIStatus                  `json:"api,omitzero"`
	Events    EventCounters              `json:"events,omitzero"`
	Reads     ReadCounters               `json:"reads,omitzero"`
	Pace      map[api.IntentState]Pace   `json:"pace,omitempty"`        // how long intents stay in each state
	Known     time.Time                  `json:"known,omitzero"`        // since when the account has been watched, for [PulseOf]; zero: never
	Latency   []Latency                  `json:"latency,omitempty"`     // of the service's answers, tillwatch's own first; at most 8
	Confirms  []*Confirm                 `json:"confirms,omitempty"`    // without a known outcome, the oldest first; then those that ended lately, the newest first
	Alerts    []Alert                    `json:"alerts,omitempty"`      // unknown outcomes of confirms first, then the oldest first
	LastEvent time.Time                  `json:"lastEvent,omitzero"`    // when the newest event was received; zero when none
	Ahead     time.Duration              `json:"clockAheadNs,omitzero"` // how far this machine's clock is ahead of the service's; negative: behind; 0 while it is right, as far as known
	LastRead  time.Time                  `json:"lastRead,omitzero"`     // when the newest read was answered; zero when none
	List      ListStatus                 `json:"list,omitzero"`         // the service's list of intents

	ShipmentList ListStatus `json:"shipmentList,omitzero"`

	Named bool `json:"named,omitempty"` // the user has named intents to watch
}

// Sourceless reports whether nothing names the account's intents: only those with shipments become known.
func (s *Summary) Sourceless() bool {
	return s.Feed.State == FeedOff && s.List.State == ListNotServed && !s.Named
}

// Holds returns the bucket that reads wait for at now; nil if they do not wait.
func (s *Summary) Holds(now time.Time) *quota.Bucket {
	return firstBucket(s.Quota, func(b *quota.Bucket) bool { return b.Class == quota.Reads && b.Next.After(now) })
}

// OrdersKnown reports whether all items of the orders are known: only a read shows which order an intent belongs to.
func (s *Summary) OrdersKnown() bool {
	alone := s.Feed.State == FeedOff && s.List.State == ListNotServed
	return s.NeverRead == 0 && !alone && s.List.State != ListPartly && s.List.State != ListCut
}

// IntentsKnown reports whether the counts of intents are complete. Until then a state without intents is unknown,
// not empty.
func (s *Summary) IntentsKnown() bool {
	switch s.List.State {
	case ListWhole, ListCut:
		return true
	}
	return s.fed() || s.Named && !s.LastRead.IsZero()
}

// ShipmentsKnown is [Summary.IntentsKnown] for the counts of shipments. Where the service does not list them, they are
// found by their intents.
func (s *Summary) ShipmentsKnown() bool {
	switch s.ShipmentList.State {
	case ListUnread:
		return s.fed()
	case ListNotServed:
		return s.IntentsKnown()
	}
	return s.ShipmentList.State != ListForbidden
}

// fed reports whether events name the account's intents and shipments. While the service has never been reached, it
// may list others.
func (s *Summary) fed() bool {
	reached := s.List.State == ListNotServed || !s.LastRead.IsZero() || s.API.State == APIHealthy || s.API.State == APISlow
	return reached && (s.Feed.State == FeedLive || !s.LastEvent.IsZero())
}

// Summary returns the summary alone.
func (s *Store) Summary() Summary {
	now := time.Now()
	buckets := s.buckets(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary(now, buckets)
}

func (s *Store) buckets(now time.Time) []quota.Bucket {
	if s.cfg.Quota == nil {
		return nil
	}
	return s.cfg.Quota(now)
}

func (s *Store) summary(now time.Time, buckets []quota.Bucket) Summary {
	sum := Summary{
		Intents:   s.intents.listed(),
		NotRead:   s.intents.counts[""],
		NeverRead: s.intents.unread,
		LetGo:     s.intents.letGo,
		Shipments: maps.Clone(s.shipments.counts),
		Quota:     buckets,
		Day:       s.intents.day.of(buckets, now),
		Agents:    s.intents.agents(s.cfg.AgentsLimit, buckets),
		Spenders:  s.spenders.list(buckets, now),
		Feed:      s.feed.FeedStatus,
		Gaps:      s.feed.gaps,
		API:       s.health.APIStatus,
		Events:    s.events.EventCounters,
		Reads:     s.intents.reads.ReadCounters,
		Pace:      s.intents.pace.all(),
		Known:     s.known,
		Latency:   s.latencies.list(),
		Confirms:  s.confirms.list,
		Alerts:    s.alerts.inOrder(),
		LastEvent: s.events.newest,
		LastRead:  s.intents.reads.last,
		Ahead:     s.health.clock.off(),
		List:      s.lists.status[intentList],

		ShipmentList: s.lists.status[shipmentList],

		Named: s.lists.named,
	}
	sum.Limits = s.limits.of(&sum, now)
	return sum
}

// AgentCount is how many intents are placing orders, and the limit for them; a Limit of 0 is unknown.
type AgentCount struct {
	Placing int  `json:"placing"`
	Limit   int  `json:"limit"`
	Assumed bool `json:"assumed,omitempty"` // Limit is the configured one: no header has named it
}
