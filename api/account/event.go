package account

import (
	"time"

	"tillwatch/api"
)

// Event is one delivered event as the picture keeps it. It is immutable.
type Event struct {
	Seq        int64              `json:"seq,omitempty"` // in the relay's journal; 0 if it comes from none
	ID         api.ID             `json:"id"`
	Type       api.EventType      `json:"type"`
	SourceType api.SourceType     `json:"sourceType,omitempty"`
	SourceID   api.ID             `json:"sourceId,omitempty"`
	Product    api.Text           `json:"product,omitempty"`    // name of the intent's product; "" while unknown
	CreatedAt  time.Time          `json:"createdAt,omitzero"`   // by the service; zero if it did not say
	Received   time.Time          `json:"received,omitzero"`    // by the relay; zero if it did not say
	Origin     string             `json:"origin,omitempty"`     // webhook or backfill
	Duplicates int                `json:"duplicates,omitempty"` // how often the relay received it again
	Late       bool               `json:"late,omitempty"`       // it arrived after an event that was created later
	Status     api.ShipmentStatus `json:"status,omitempty"`     // the status that a shipment's update led to; "" until a read proves it
	Raw        []byte             `json:"-"`                    // the exact body; nil if dropped
	Version    uint64             `json:"-"`                    // of the store, when this last changed

	ordinal int  // how many events became known before it
	epoch   int  // counts journals: which one gave Seq
	lined   bool // it is in a timeline
}

// precedes reports whether the event was created before t; false if its creation time is unknown.
func (e *Event) precedes(t time.Time) bool { return !e.CreatedAt.IsZero() && e.CreatedAt.Before(t) }

// EventCounters count what became of events.
type EventCounters struct {
	Received   int `json:"received"`   // distinct events
	Duplicate  int `json:"duplicate"`  // repeated deliveries of an event
	Late       int `json:"late"`       // events that arrived after one created later
	Missed     int `json:"missed"`     // state changes that a read found and no event reported
	Backfilled int `json:"backfilled"` // events that the relay fetched because no webhook brought them
}
