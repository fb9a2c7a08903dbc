package account

import (
	"time"

	"tillwatch/api"
)

// newsWithin is how far the time of an update may lie from that of its event. Both
// are the service's own.
const newsWithin = time.Second

// tellNews notes which status each event of a shipment has told of, as far as a
// read proves it: the service changed the shipment, or a scan was made, when the
// event was created. What is not proven stays open.
func (s *Store) tellNews(r *shipmentRecord) {
	if r.answer == nil {
		return
	}
	s.tellNewsOf(r, r.answer.Status, r.updated)
	for _, scan := range r.answer.TrackingEvents {
		s.tellNewsOf(r, scan.Status, s.clock.instant(scan.At))
	}
}

// tellNewsOf gives the status that a shipment took at a moment to the event that
// was created next to it.
func (s *Store) tellNewsOf(r *shipmentRecord, status api.ShipmentStatus, at instant) {
	if status == "" || at == 0 {
		return
	}
	var next *eventRecord
	least := newsWithin + 1
	for e := s.events.at(r.latest); e != nil; e = s.events.at(e.earlier) {
		if apart := time.Duration(max(e.created-at, at-e.created)); e.created != 0 && apart < least {
			next, least = e, apart
		}
	}
	if next != nil && next.kind == api.ShipmentUpdated && next.status == "" {
		next.status = status
		s.touchEvent(next)
	}
}
