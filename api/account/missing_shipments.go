package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// shipmentDebt is how many events of a shipment are still to come, by what reads
// found.
type shipmentDebt struct {
	owed    int
	counted int       // of those owed, as missed
	learnt  time.Time // when the newest was found out
}

// expectOfShipment notes which events should report what a read found: each change
// of the status that the scans show, less the events that came since the read
// before. before is the shipment without what was read. Nothing is expected of a
// shipment that is read for the first time and is older than the feed.
func (m *missing) expectOfShipment(before *Shipment, read *api.Shipment, now time.Time) {
	if m.feed.State == FeedOff || before.Latest == nil && m.feed.unheard(read.CreatedAt) {
		return
	}
	expected := 0
	if before.Latest != nil {
		expected = statusChanges(before.Status(), read, before.updated())
		if expected == 0 && len(read.TrackingEvents) > len(before.Latest.TrackingEvents) {
			expected = 1
		}
	} else {
		expected = 1 + statusChanges(api.Ordered, read, time.Time{})
	}
	if expected <= before.ahead {
		return
	}
	d := m.shipments[before.ID]
	if d == nil {
		d = &shipmentDebt{}
		m.shipments[before.ID] = d
	}
	d.owed += expected - before.ahead
	d.learnt = now
}

// statusChanges is how often the status has changed from one on, as far as the
// scans after a moment and the status itself show.
func statusChanges(from api.ShipmentStatus, sh *api.Shipment, after time.Time) int {
	scans := slices.DeleteFunc(slices.Clone(sh.TrackingEvents), func(e api.TrackingEvent) bool { return e.Status == "" || !e.At.After(after) })
	slices.SortStableFunc(scans, func(a, b api.TrackingEvent) int { return a.At.Compare(b.At) })
	changes := 0
	for _, scan := range append(scans, api.TrackingEvent{Status: sh.Status}) {
		if scan.Status != from {
			changes++
			from = scan.Status
		}
	}
	return changes
}

// arrivedOfShipment settles one event that was expected of a shipment.
func (m *missing) arrivedOfShipment(id api.ID) {
	d := m.shipments[id]
	if d == nil {
		return
	}
	if d.owed == d.counted {
		d.counted--
		m.counters.Missed--
	}
	if d.owed--; d.owed == 0 {
		delete(m.shipments, id)
	}
}
