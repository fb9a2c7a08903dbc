package account

import (
	"math"
	"slices"
	"time"

	"tillwatch/api"
)

// parcelDebt is how many events of a shipment are still to come, by what reads
// found. They count as missed once they are overdue.
type parcelDebt struct {
	owed    int
	counted int       // of those owed, as missed
	learnt  time.Time // when the newest was found out
}

// expectParcelEvents notes which events should tell of what a read finds: of each
// change of the status that the scans show, less the events that came since the
// read before. It is called before the record takes over what was read. Of a
// shipment that is older than the first that was heard of the feed nothing is
// expected, as long as it was not read before.
func (s *Store) expectParcelEvents(r *shipmentRecord, sh *api.Shipment, now time.Time) {
	told := int(r.told)
	r.told = 0
	if s.feed.State == FeedOff || r.answer == nil && (s.heard.IsZero() || sh.CreatedAt.Before(s.heard)) {
		return
	}
	expected := 0
	if r.answer != nil {
		expected = statusChanges(r.status, sh, r.updated.time())
		if expected == 0 && len(sh.TrackingEvents) > len(r.answer.TrackingEvents) {
			expected = 1
		}
	} else {
		expected = 1 + statusChanges(api.Ordered, sh, time.Time{})
	}
	if expected <= told {
		return
	}
	d := s.parcelDebts[r]
	if d == nil {
		d = &parcelDebt{}
		s.parcelDebts[r] = d
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

// parcelEventArrived takes an event for one that was expected, or keeps in mind
// that it came before the read that it calls for.
func (s *Store) parcelEventArrived(r *shipmentRecord, created instant) {
	if r.answer == nil || created > r.updated {
		r.told = min(r.told, math.MaxUint8-1) + 1
		return
	}
	d := s.parcelDebts[r]
	if d == nil {
		return
	}
	if d.owed == d.counted {
		d.counted--
		s.counters.Missed--
	}
	if d.owed--; d.owed == 0 {
		delete(s.parcelDebts, r)
	}
}

// countMissedParcels counts the events of shipments that are overdue.
func (s *Store) countMissedParcels(now time.Time) {
	for r, d := range s.parcelDebts {
		if d.counted == d.owed || now.Sub(d.learnt) < s.cfg.MissedAfter {
			continue
		}
		s.counters.Missed += d.owed - d.counted
		d.counted = d.owed
		s.alerts.silence.add(s.lastEvent)
		if r.intent != nil {
			s.remember(r.intent, Moment{What: ShipmentQuiet, Status: r.status, When: utc(now), Learnt: utc(now)})
			s.touch(r.intent)
		}
		s.stamp()
	}
}

// hears notes since when the feed is heard.
func (s *Store) hears(since time.Time) {
	if s.heard.IsZero() || since.Before(s.heard) && !since.IsZero() {
		s.heard = since
	}
}
