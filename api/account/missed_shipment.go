package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// shipmentDebt is how many events of a shipment are still to come, by what reads
// found. They count as missed once they are overdue.
type shipmentDebt struct {
	owed    int
	counted int       // of those owed, as missed
	learnt  time.Time // when the newest was found out
}

// expectShipmentEvents notes which events should tell of what a read finds: of each
// change of the status that the scans show, less the events that came since the
// read before. It is called before the record takes over what was read. Of a
// shipment that is older than the first that was heard of the feed nothing is
// expected, as long as it was not read before.
func (s *Store) expectShipmentEvents(sh *Shipment, read *api.Shipment, now time.Time) {
	told := sh.told
	sh.told = 0
	if s.feed.State == FeedOff || sh.Latest == nil && s.feed.unheard(read.CreatedAt) {
		return
	}
	expected := 0
	if sh.Latest != nil {
		expected = statusChanges(sh.Status(), read, sh.updated())
		if expected == 0 && len(read.TrackingEvents) > len(sh.Latest.TrackingEvents) {
			expected = 1
		}
	} else {
		expected = 1 + statusChanges(api.Ordered, read, time.Time{})
	}
	if expected <= told {
		return
	}
	d := s.missing.shipments[sh.ID]
	if d == nil {
		d = &shipmentDebt{}
		s.missing.shipments[sh.ID] = d
	}
	d.owed += expected - told
	d.learnt = now
}

// statusChanges is how often the status has changed from one on, as far as the
// scans after a moment and the status itself tell.
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

// shipmentEventArrived takes an event for one that was expected, or keeps in mind
// that it came before the read that it calls for.
func (s *Store) shipmentEventArrived(sh *Shipment, created time.Time) {
	if sh.Latest == nil || created.After(sh.updated()) {
		sh.told++
		return
	}
	d := s.missing.shipments[sh.ID]
	if d == nil {
		return
	}
	if d.owed == d.counted {
		d.counted--
		s.counters.Missed--
	}
	if d.owed--; d.owed == 0 {
		delete(s.missing.shipments, sh.ID)
	}
}

// countMissedShipments counts the events of shipments that are overdue.
func (s *Store) countMissedShipments(now time.Time) {
	for id, d := range s.missing.shipments {
		if d.counted == d.owed || now.Sub(d.learnt) < s.cfg.MissedAfter {
			continue
		}
		s.counters.Missed += d.owed - d.counted
		d.counted = d.owed
		s.missing.silence.add(s.lastEvent)
		if sh := s.shipments.get(id); sh.IntentID != "" {
			s.remember(s.editIntent(sh.IntentID), Moment{What: ShipmentQuiet, Status: sh.Status(), When: utc(now), Learnt: utc(now)})
		}
		s.stamp()
	}
}
