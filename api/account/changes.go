package account

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Changes is what has changed since a version: the one thing that a screen or a
// command reads. It is immutable and cheap: its size is that of the change.
type Changes struct {
	Version       uint64 // pass it to the next call
	At            time.Time
	Intents       []*Intent   // changed, each once
	Shipments     []*Shipment // changed, each once
	Events        []*Event    // new ones and ones that changed, oldest first
	EventsSkipped int         // new events that are no longer kept
	Requests      []api.Exchange
	Summary       Summary
}

// Summary is the small part of the picture that is always told whole.
type Summary struct {
	Intents   map[api.IntentState]int // states that the contract does not list count under ""
	Shipments map[api.ShipmentStatus]int
	Quota     []quota.Bucket
	Day       DayCount
	Agents    AgentCount
	Feed      FeedStatus
	API       APIStatus
	Events    EventCounters
	Reads     ReadCounters
	Alerts    []Alert
	LastEvent time.Time // when the newest event was received; zero when none
	LastRead  time.Time // when the newest read was answered; zero when none
}

// DayCount is how many intents of the last day are known. The service may know
// of more: it is an estimate from below.
type DayCount struct{ Seen, Limit int }

// AgentCount is how many intents are known to be placing, of the cap.
type AgentCount struct{ Placing, Limit int }

// APIState is the health of the service as the last calls showed it.
type APIState uint8

// The states of the API.
const (
	APIUnknown APIState = iota // not called yet
	APIHealthy
	APISlow         // pausing for quota, or backing off
	APIFailing      // the last calls failed
	APIUnauthorized // the key is refused
)

// APIStatus is the health of the service.
type APIStatus struct {
	State   APIState
	Since   time.Time
	Latency time.Duration // of the last answered call
	Err     error         // of the last failed call
}

// EventCounters count what became of events.
type EventCounters struct {
	Received, Duplicate, Late, Missed, Backfilled int
}

// ReadCounters relate reads to what they found.
type ReadCounters struct{ Total, StateChanges int }

// Alert is something that a person should know. Each is raised once and cleared
// when it is over.
type Alert struct {
	Kind   AlertKind
	Text   string
	Intent api.ID // when it is about one
	Since  time.Time
}

// AlertKind is what an alert is about.
type AlertKind string

// The kinds of alerts.
const (
	AlertRelay    AlertKind = "relay"
	AlertAPI      AlertKind = "api"
	AlertExpiring AlertKind = "expiring"
	AlertStuck    AlertKind = "stuck"
	AlertQuota    AlertKind = "quota"
	AlertGap      AlertKind = "gap"
)
