package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// newsWithin is how far the time of an update may lie from that of its event. Both
// are the service's own.
const newsWithin = time.Second

// tellNews notes which status each event of a shipment has told of, as far as a
// read proves it: the service changed the shipment, or a scan was made, when the
// event was created. What is not proven stays open.
func (s *Store) tellNews(sh *Shipment) {
	if sh.Latest == nil {
		return
	}
	s.tellNewsOf(sh.ID, sh.Latest.Status, sh.updated())
	for _, scan := range sh.Latest.TrackingEvents {
		s.tellNewsOf(sh.ID, scan.Status, plausible(scan.At))
	}
}

// tellNewsOf gives the status that a shipment took at a moment to the event that
// was created next to it.
func (s *Store) tellNewsOf(id api.ID, status api.ShipmentStatus, at time.Time) {
	if status == "" || at.IsZero() {
		return
	}
	var next *Event
	least := newsWithin + 1
	for _, e := range slices.Backward(s.events.bySource[id]) {
		if apart := e.CreatedAt.Sub(at).Abs(); !e.CreatedAt.IsZero() && apart < least {
			next, least = e, apart
		}
	}
	if next != nil && next.Type == api.ShipmentUpdated && next.Status == "" {
		s.events.edit(next, s.stamp()).Status = status
	}
}
