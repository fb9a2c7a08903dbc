package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// newsWithin is how far the time of an update may lie from that of its event. Both are the service's own times.
const newsWithin = time.Second

// explain records which status each event of a shipment led to, as far as a read proves it: the event was created
// when the service updated the shipment, or when a scan was made.
func (l *events) explain(sh *Shipment) {
	if sh.Latest == nil {
		return
	}
	l.explainBy(sh.ID, sh.Latest.Status, sh.updated())
	for _, scan := range sh.Latest.TrackingEvents {
		l.explainBy(sh.ID, scan.Status, plausible(scan.At))
	}
}

// explainBy assigns the status that a shipment took at a moment to the event created nearest to it.
func (l *events) explainBy(id api.ID, status api.ShipmentStatus, at time.Time) {
	if status == "" || at.IsZero() {
		return
	}
	var nearest *Event
	least := newsWithin + 1
	for _, e := range slices.Backward(l.of(id)) {
		if apart := e.CreatedAt.Sub(at).Abs(); !e.CreatedAt.IsZero() && apart < least {
			nearest, least = e, apart
		}
	}
	if nearest != nil && nearest.Type == api.ShipmentUpdated && nearest.Status == "" {
		l.edit(nearest.ID).Status = status
	}
}
