package account

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestAShipmentIsLateByWholeDaysPastItsEstimateUntilItIsDelivered(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		status api.ShipmentStatus
		past   time.Duration // its estimate, before now; 0: it has none
		want   int
	}{
		{"announced for tomorrow", api.Shipped, -day, 0},
		{"announced for today", api.Shipped, 14 * time.Hour, 0},
		{"a day", api.Shipped, day, 1},
		{"nearly two days", api.OutForDelivery, 2*day - time.Second, 1},
		{"of a status that is not listed", "exception", 9 * day, 9},
		{"not shipped yet", api.Ordered, 2 * day, 2},
		{"delivered", api.Delivered, 2 * day, 0},
		{"canceled", api.Canceled, 2 * day, 0},
		{"without an estimate", api.Shipped, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Shipment{Latest: &api.Shipment{Status: c.status, Tracking: &api.Tracking{}}}
			if c.past != 0 {
				s.Latest.Tracking.Estimated = now.Add(-c.past)
			}
			if got := s.Late(now); got != c.want {
				t.Errorf("late by %d days, want %d", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name      string
		estimated time.Time
		hour      int // of the day for which it was announced, in California
		want      int
	}{
		{"a day that is not over there", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), 23, 0},
		{"a day that is over there", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), 24, 1},
		{"a moment, less than a day ago", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 24, 0},
		{"a moment, a day ago", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 25, 1},
	} {
		s := &Shipment{Latest: &api.Shipment{Status: api.Shipped, Tracking: &api.Tracking{Estimated: c.estimated}}}
		if got := s.Late(time.Date(2026, 11, 20, c.hour, 0, 0, 0, time.FixedZone("", -8*3600))); got != c.want {
			t.Errorf("%s: late by %d days, want %d", c.name, got, c.want)
		}
	}
	if late := (&Shipment{}).Late(now); late != 0 {
		t.Errorf("one that was never read is late by %d days", late)
	}
	if late := (&Shipment{Latest: &api.Shipment{Status: api.Shipped}}).Late(now); late != 0 {
		t.Errorf("one without tracking is late by %d days", late)
	}
}
