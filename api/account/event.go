package account

import (
	"time"

	"tillwatch/api"
)

// Event is one delivered event as the picture keeps it. It is immutable.
type Event struct {
	Seq        int64              `json:"seq,omitempty"` // in the relay's journal; 0 when no journal gave it
	ID         api.ID             `json:"id"`
	Type       api.EventType      `json:"type"`
	SourceType api.SourceType     `json:"sourceType,omitempty"`
	SourceID   api.ID             `json:"sourceId,omitempty"`
	Product    api.Text           `json:"product,omitempty"`    // of the intent that it speaks of; "" while not known
	CreatedAt  time.Time          `json:"createdAt,omitzero"`   // by the service; zero when it did not say
	Received   time.Time          `json:"received,omitzero"`    // by the relay; zero when it did not say
	Origin     string             `json:"origin,omitempty"`     // webhook, backfill or replay
	Duplicates int                `json:"duplicates,omitempty"` // how often the relay got it again
	Late       bool               `json:"late,omitempty"`       // an event that was created later came before it
	Status     api.ShipmentStatus `json:"status,omitempty"`     // to which an update of a shipment led; "" while no read proves it
	Raw        []byte             `json:"-"`                    // the exact body; nil when it is no longer kept
	Version    uint64             `json:"-"`                    // of the store, when this last changed

	ordinal int  // how many events were known before it
	epoch   int  // of the journal that gave its sequence number
	lined   bool // it stands in a timeline
}

// precedes reports whether the event was created before t; false where it does not
// say when it was created.
func (e *Event) precedes(t time.Time) bool { return !e.CreatedAt.IsZero() && e.CreatedAt.Before(t) }

// EventCounters count what became of events.
type EventCounters struct {
	Received   int `json:"received"`   // each event once
	Duplicate  int `json:"duplicate"`  // deliveries of an event that was there already
	Late       int `json:"late"`       // events that came after one that was created later
	Missed     int `json:"missed"`     // state changes that a read found and no event reported
	Backfilled int `json:"backfilled"` // events that the relay fetched, because no webhook brought them
}
