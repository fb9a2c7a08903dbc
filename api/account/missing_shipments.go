package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// shipmentDebt is how many events of a shipment are expected, by what reads found.
type shipmentDebt struct {
	owed    int
	counted int       // how many of them count as missed
	learnt  time.Time // when the newest became expected
}

// expectOfShipment derives from a read which events to expect: one for each status change that the scans show,
// minus the events that came since the read before. before is the shipment without this read. Nothing is expected
// of a shipment that is older than the feed and is read for the first time.
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

// statusChanges counts the status changes since from, as far as the scans after a time and the status show them.
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

// arrivedOfShipment settles one expected event of a shipment.
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
