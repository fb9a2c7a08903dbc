package account

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestAShipmentIsAsNewAsItsUpdate(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	all := newShipments(&news{}, 10)
	cases := []struct {
		name          string
		status        api.ShipmentStatus
		updated, sent time.Time
		taken         bool
		want          api.ShipmentStatus
	}{
		{"the first read", api.Ordered, at(1), at(2), true, api.Ordered},
		{"an update", api.Shipped, at(3), at(4), true, api.Shipped},
		{"a service that is behind what it answered", api.Ordered, at(1), at(5), false, api.Shipped},
		{"the same update, sent before", api.OutForDelivery, at(3), at(3), false, api.Shipped},
		{"the same update, sent later", api.OutForDelivery, at(3), at(6), true, api.OutForDelivery},
	}
	for _, c := range cases {
		sh, _, taken := all.read(&api.Shipment{ID: "shp_1", Status: c.status, UpdatedAt: c.updated}, c.sent)
		if taken != c.taken || sh.Status() != c.want {
			t.Errorf("%s: taken %t, %s", c.name, taken, sh.Status())
		}
	}
	if len(all.counts) != 1 || all.counts[api.OutForDelivery] != 1 {
		t.Errorf("counted as %v", all.counts)
	}
}

func TestAnEventOfAShipmentSettlesOneThatWasExpectedUnlessItIsAheadOfTheRead(t *testing.T) {
	all := newShipments(&news{}, 10)
	sh := all.edit("shp_1")
	if all.event(sh, &Event{CreatedAt: noon}, false) || sh.ahead != 1 {
		t.Errorf("before any read %d events are ahead", sh.ahead)
	}
	all.read(&api.Shipment{ID: "shp_1", Status: api.Shipped, UpdatedAt: noon}, noon)
	if !all.event(sh, &Event{CreatedAt: noon}, false) || sh.ahead != 0 {
		t.Errorf("an event of what was read: %d are ahead", sh.ahead)
	}
	if all.event(sh, &Event{CreatedAt: noon.Add(time.Second)}, false) || sh.ahead != 1 {
		t.Errorf("an event of what was not read: %d are ahead", sh.ahead)
	}
}
